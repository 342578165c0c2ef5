package hostile

import (
	"io"
	"net"
	"strings"
	"time"
)

const ok200 = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// framing are answers to lists that are not HTTP, or not whole.
func framing() []Mode {
	sent := func(name, does, text string) Mode {
		return Mode{Name: name, Does: does, Verdict: NonConformant, Layer: on("list-revisions", wire(text))}
	}
	chunked := ok200 + "Transfer-Encoding: chunked\r\n\r\n"
	return []Mode{
		sent("short-body", "closes before the body is complete", ok200+"Content-Length: 1000\r\n\r\n{"),
		sent("body-beyond-length", "sends more than it announces", ok200+"Content-Length: 2\r\n\r\n{}"+strings.Repeat("x", 1<<20)),
		sent("vast-length", "announces 10^18 bytes", ok200+"Content-Length: 1000000000000000000\r\n\r\n{}"),
		sent("negative-length", "announces a negative length", ok200+"Content-Length: -1\r\n\r\n{}"),
		sent("vast-chunk", "announces a chunk of 2^60 bytes", chunked+"fffffffffffffff\r\n{}"),
		sent("wrong-chunk", "has a chunk whose size is no number", chunked+"zz\r\n{}\r\n0\r\n\r\n"),
		sent("chunks-without-end", "closes without a last chunk", chunked+"2\r\n{}\r\n"),
		sent("tiny-chunks", "sends a megabyte in chunks of one byte", chunked+strings.Repeat("1\r\n \r\n", 1<<20)+"0\r\n\r\n"),
		sent("long-chunk-extension", "has a chunk extension of a megabyte", chunked+"2;"+strings.Repeat("x", 1<<20)+"\r\n{}\r\n0\r\n\r\n"),
		sent("many-trailers", "has a megabyte of trailers", chunked+"2\r\n{}\r\n0\r\n"+strings.Repeat("X: y\r\n", 200_000)+"\r\n"),
		sent("http-0.9", "answers with a body alone", page+pageEnd),
		sent("http-2-frames", "answers with frames of HTTP/2", "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"),
		sent("status-0", "has the status 000", "HTTP/1.1 000 Zero\r\nContent-Length: 2\r\n\r\n{}"),
		sent("status-99", "has the status 99", "HTTP/1.1 99 X\r\nContent-Length: 2\r\n\r\n{}"),
		sent("status-999", "has the status 999", "HTTP/1.1 999 X\r\nContent-Length: 2\r\n\r\n{}"),
		sent("status-without-end", "has a status line of a megabyte", "HTTP/1.1 200 "+strings.Repeat("x", 1<<20)+"\r\n\r\n"),
		sent("many-interim-answers", "sends 100,000 interim answers", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 100_000)+emptyPage("")),
		sent("switches-protocols", "switches protocols", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
		sent("no-content-with-body", "has a body with status 204", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n{}"),
		sent("not-modified", "answers 304 to a request without conditions", "HTTP/1.1 304 Not Modified\r\n\r\n"),
		sent("ssh-banner", "answers with the banner of SSH", "SSH-2.0-OpenSSH_9.0\r\n"),
		sent("random-bytes", "answers with bytes that mean nothing", "\x15\x03\x01\x00\x02\x02\x28"+strings.Repeat("\xde\xad\xbe\xef", 1<<16)),
		sent("nothing-at-all", "closes without an answer", ""),
		{Name: "reset", Does: "resets the connection", Verdict: NonConformant, Layer: on("list-revisions", connection(reset))},
		{Name: "reset-in-body", Does: "resets the connection in the body", Verdict: NonConformant,
			Layer: on("list-revisions", connection(func(c net.Conn) {
				_, _ = io.WriteString(c, ok200+"Content-Length: 100\r\n\r\n{")
				reset(c)
			}))},
		{Name: "endless-interim-answers", Does: "sends interim answers without end", Verdict: NonConformant,
			Layer: on("list-revisions", connection(func(c net.Conn) {
				var err error
				for err == nil {
					_, err = io.WriteString(c, "HTTP/1.1 102 Processing\r\n\r\n")
				}
			}))},
		{Name: "one-byte-at-a-time", Does: "sends headers one byte per 50 ms", Verdict: NonConformant,
			Layer: both(spoiled, on("list-revisions", connection(func(c net.Conn) {
				var err error
				for i := 0; err == nil; i++ {
					_, err = io.WriteString(c, string((ok200 + strings.Repeat("X: y\r\n", 1000))[i%6000]))
					time.Sleep(50 * time.Millisecond) // the pace is the mode
				}
			})))},
	}
}

// reset closes a connection so that the client sees a reset.
func reset(c net.Conn) {
	if t, is := c.(*trackedConn); is {
		if tcp, is := t.Conn.(*net.TCPConn); is {
			_ = tcp.SetLinger(0)
		}
	}
}
