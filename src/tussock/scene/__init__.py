"""What is out there: the model of a scene."""
