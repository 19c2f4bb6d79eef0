"""Captures of network traffic: datagrams from pcap and pcapng files, and into them."""
