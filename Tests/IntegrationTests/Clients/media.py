"""A host of media. It prints its port, and then a line of JSON for each request and for each client that went away.

Also a service that changes contents: POST /enrich answers with another title, after it has verified the signature with the
key of the first argument.
"""
import base64
import hashlib
import hmac
import http.server
import json
import select
import struct
import sys
import threading
import zlib

KEY = base64.b64decode(sys.argv[1].removeprefix("whsec_"))
lock = threading.Lock()


def say(**what):
    with lock:
        print(json.dumps(what), flush=True)


def png(width, height):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + bytes((x * y) % 251 for x in range(width * 3)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PHOTO = png(64, 48)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        say(path=self.path)
        match self.path:
            case "/photo.png":
                self.answer(PHOTO)
            case "/truncated.png":
                self.answer(PHOTO[:-20])
            case "/page.png":
                self.answer(b"<html>no image</html>")
            case "/away":
                self.send_response(302)
                self.send_header("location", "http://[::ffff:127.0.0.1]/photo.png")
                self.send_header("content-length", "0")
                self.end_headers()
            case "/hang.png":
                # Until the client goes away.
                select.select([self.connection], [], [], 60)
                say(path=self.path, closed=self.connection.recv(1) == b"")
                self.close_connection = True
            case _:
                self.send_error(500)

    def answer(self, body):
        self.send_response(200)
        self.send_header("content-type", "image/png")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + body
        code = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
        asked = json.loads(body)
        say(path=self.path, verified=f"v1,{code}" in self.headers["webhook-signature"].split(), requestId=asked["requestId"])
        content = asked["content"] | {"title": "From the service: " + asked["content"]["title"]}
        answer = json.dumps({"content": content}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
say(port=server.server_address[1], digest=hashlib.sha256(PHOTO).hexdigest(), bytes=len(PHOTO))
server.serve_forever()
