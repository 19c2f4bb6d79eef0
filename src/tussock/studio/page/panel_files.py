"""Files: open what is dropped or named, save the scene and the path, the picture, and the words for all of it."""

from __future__ import annotations

import io
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tussock.errors import InputError, TussockError
from tussock.scene_files.mesh_files import MESH_SUFFIXES
from tussock.studio.opening import holds_frames
from tussock.whole_files import TemporaryFolder

if TYPE_CHECKING:
    from tussock.studio.app import Studio

__all__ = ["FilesPanel"]

_DROP = """
<div style='margin:0 1em .6em 1em;padding:1em;border:1px dashed #7c8894;border-radius:.5em;text-align:center;
font-size:.82em;opacity:.85' id='studio-drop'
ondragover='event.preventDefault();this.style.opacity=1'
ondrop='event.preventDefault();const files=event.dataTransfer.files;if(!files.length)return;
this.lastChild.textContent=files.length>1?"one file at a time: "+files[0].name+" is opened":"";
const input=document.querySelector("input[type=file]");
const box=new DataTransfer();box.items.add(files[0]);input.files=box.files;
input.dispatchEvent(new Event("change",{bubbles:true}))'>
drop a file here: scene, mesh, pack, frame, capture, volumes<div></div></div>
"""
"""hands a dropped file to the input of the button below it"""
_MESHES = ("is placed here", "opens alone")


class FilesPanel:
    """The tab of files. Names are of the machine that the studio runs on, relative to where it was started."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        self._folder: TemporaryFolder | None = None
        """of files that came from the page, made for the first of them"""
        gui.add_html(_DROP)
        self._upload = gui.add_upload_button("choose a file")
        hint = "What becomes of a mesh file: a thing in this scene, or a scene."
        self._meshes = gui.add_dropdown("a mesh", _MESHES, initial_value=_MESHES[0], hint=hint)
        self._name = gui.add_text("name or path", "", hint="A ready scene, a file, a folder of frames or a data set.")
        self._open = gui.add_button("open")
        with gui.add_folder("save"):
            self._scene_path = gui.add_text("scene", "scene.toml", hint=".toml with a folder beside it, .usd or .glb")
            self._force = gui.add_checkbox("overwrite", initial_value=False)
            self._save = gui.add_button("save the scene")
            self._path_path = gui.add_text("path", "path.tum")
            self._save_path = gui.add_button("save the path")
            self._picture = gui.add_button("picture of this view")
        with gui.add_folder("the same by words"):
            self._words = gui.add_html("")
        self._listen()

    def _listen(self) -> None:
        studio = self._studio

        @self._upload.on_upload
        def _(_: Any) -> None:
            studio.guard(lambda: self.take(self._upload.value.name, self._upload.value.content))

        @self._open.on_click
        def _(_: Any) -> None:
            studio.guard(lambda: studio.open(str(self._name.value).strip() or "yard"))

        @self._save.on_click
        def _(_: Any) -> None:
            studio.guard(self.save)

        @self._save_path.on_click
        def _(_: Any) -> None:
            studio.guard(self.save_path)

        @self._picture.on_click
        def _(event: Any) -> None:
            studio.guard(lambda: self._send_picture(event.client))

    def take(self, name: str, content: bytes) -> None:
        """Open a file that came from the page."""
        plain = Path(name).name
        if not plain or plain in (".", ".."):
            raise InputError.of("file", "must have a name", name)
        if "\0" in plain:
            raise InputError.of("file name", "must not hold the character NUL", name)
        if self._folder is None:
            self._folder = TemporaryFolder()
        path = self._folder.path / plain
        path.write_bytes(content)
        try:
            self._open_here(path)
        except TussockError as error:
            raise InputError(self._as_dropped(str(error))) from None

    def _open_here(self, path: Path) -> None:
        studio = self._studio
        is_mesh = path.suffix.lower() in MESH_SUFFIXES and not holds_frames(path)
        if is_mesh and self._meshes.value == _MESHES[0] and studio.session.scene is not None:
            studio.build_panel.place_file(path)
        else:
            studio.open(str(path), stays=False)

    def _as_dropped(self, text: str) -> str:
        """What is wrong with a file, by the name that its owner knows it by, not by where its copy lies."""
        assert self._folder is not None
        plain = text.replace(f"{self._folder.path}/", "")
        alone = plain != text and ": no such " in plain
        return f"{plain}; a file that is dropped comes alone: drop a pack, or give its path below" if alone else plain

    def close(self) -> None:
        """Remove what came from the page."""
        if self._folder is not None:
            self._folder.close()

    def save(self) -> None:
        path = self._studio.session.save(str(self._scene_path.value).strip(), force=bool(self._force.value))
        self._studio.say(f"wrote {path}")
        self.update()

    def save_path(self) -> None:
        path = self._studio.session.save_path(str(self._path_path.value).strip(), force=bool(self._force.value))
        self._studio.say(f"wrote {path}")

    def set_scene_path(self, path: str) -> None:
        """Say where the scene is to be saved."""
        self._scene_path.value = path

    def _send_picture(self, client: Any) -> None:
        """Give the browser what it shows, as a PNG that it saves where its owner wants."""
        from PIL import Image

        camera = client.camera
        width = max(int(camera.image_width), 320)
        height = max(int(camera.image_height), 200)
        seen = client.get_render(height, width, transport_format="png", timeout=30.0)
        file = io.BytesIO()
        Image.fromarray(seen).save(file, "PNG")
        client.send_file_download("studio.png", file.getvalue(), save_immediately=True)
        self._studio.say("the picture is in your browser's downloads")

    def update(self) -> None:
        """Show the words for what is asked."""
        session = self._studio.session
        command, program = session.said(path=str(self._path_path.value))
        note = f"<div style='color:#ffc46b'>{escape(session.unsaid)}</div>" if session.unsaid else ""
        box = "white-space:pre-wrap;word-break:break-word;background:#00000040;padding:.6em;border-radius:.4em"
        blocks = "".join(f"<pre style='{box}'>{escape(text)}</pre>" for text in (command, program) if text)
        self._words.content = f"<div id='studio-words' style='margin:0 1em;font-size:.78em'>{note}{blocks}</div>"
