"""What looks: scan pattern, beam, receiver and noise."""
