#!/usr/bin/env python3
"""A host of media for the demonstration: /photo.png, /slow.png, which takes too long, and /away, which redirects inside.

It prints its port, and a free one for the service.
"""
import http.server
import socket
import struct
import sys
import time
import zlib


def png(width, height):
    """A PNG with a gradient."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(
        b"\0" + bytes(value for x in range(width) for value in (x * 255 // width, y * 255 // height, 160))
        for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PHOTO = png(320, 200)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/away":
            self.send_response(302)
            self.send_header("location", "http://169.254.169.254/latest/meta-data/")
            self.send_header("content-length", "0")
            self.end_headers()
            return
        if self.path not in ("/photo.png", "/slow.png"):
            return self.send_error(404)
        self.send_response(200)
        self.send_header("content-type", "image/png")
        self.send_header("content-length", str(len(PHOTO)))
        self.end_headers()
        try:
            if self.path == "/slow.png":
                for index in range(len(PHOTO)):
                    self.wfile.write(PHOTO[index:index + 1])
                    time.sleep(1)
            else:
                self.wfile.write(PHOTO)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    print(server.server_address[1], free.getsockname()[1], flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    sys.exit(0)
