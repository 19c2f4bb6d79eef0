"""The studio: a scene and a sensor in the browser, to look at, turn and build.

What is asked, drawn, picked and built stands in modules that know no browser; `tussock.studio.app` shows it.

Inner: people use the names in `tussock`.
"""
