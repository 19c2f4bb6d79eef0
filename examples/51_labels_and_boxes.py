"""What every pixel belongs to, and boxes around things, hidden ones too."""

import tussock

world = tussock.World(tussock.ready_scene("crossing"))
camera = tussock.Camera(width=640, height=360, lens=tussock.Pinhole(horizontal_fov_deg=80))
pose = tussock.Pose.at(-15.0, -2.0, 1.8, yaw=0.15)

view = tussock.look(world, camera, pose, time=4.0)
tussock.save_image(tussock.label_rgb(view.label, view.meta["labels"], view.object_id > 0), "labels.png")
tussock.save_image(tussock.instance_rgb(view.instance), "instances.png")
tussock.save_image(view.label, "labels_16bit.png")

for box in tussock.boxes_in(view, world):
    shown = f"pixels {box.visible}" if box.visible else "hidden"
    print(f"{box.name:10} {box.label:6} {shown:32} {box.occlusion:4.0%} covered, {box.camera_center[0]:5.1f} m ahead")
