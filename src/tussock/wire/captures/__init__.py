"""Captures of network traffic: datagrams from pcap and pcapng files, and into them.

Inner: people use the names in `tussock`.
"""
