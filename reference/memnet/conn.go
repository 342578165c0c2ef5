package memnet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// capacity is how many bytes a connection buffers in each direction.
const capacity = 256 << 10

// stream carries bytes in one direction.
type stream struct {
	latency time.Duration

	mu            sync.Mutex
	changed       sync.Cond // broadcast after each change of the fields below
	segments      []segment // written and not read yet, oldest first
	size          int       // bytes in segments
	readDeadline  deadline
	writeDeadline deadline
	readClosed    bool // the reader has closed the connection
	writeClosed   bool // the writer has closed the connection, or its half
	reset         bool // the writer has closed the connection with unread input
}

// segment is what one call of Write has written.
type segment struct {
	arrives time.Time
	data    []byte
}

func newStream(latency time.Duration) *stream {
	s := &stream{latency: latency}
	s.changed.L = &s.mu
	return s
}

// wake has readers and writers look at the stream again.
func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// read waits until bytes have arrived. The error is one of package net, without the operation.
func (s *stream) read(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		now := time.Now()
		switch {
		case s.readClosed:
			return 0, net.ErrClosed
		case s.readDeadline.isOver(now):
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case len(s.segments) == 0 && s.reset:
			return 0, os.NewSyscallError("read", syscall.ECONNRESET)
		case len(s.segments) == 0 && s.writeClosed:
			return 0, io.EOF
		}
		if n = s.take(p, now); n > 0 {
			s.changed.Broadcast()
			return n, nil
		}
		s.changed.Wait()
	}
}

// take moves bytes that have arrived to p. The caller holds the lock.
func (s *stream) take(p []byte, now time.Time) (n int) {
	for len(s.segments) > 0 && n < len(p) && !s.segments[0].arrives.After(now) {
		first := &s.segments[0]
		moved := copy(p[n:], first.data)
		n += moved
		if first.data = first.data[moved:]; len(first.data) == 0 {
			s.segments = s.segments[1:]
		}
	}
	s.size -= n
	return n
}

// write buffers bytes, and waits for room where the buffer is full.
func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writeClosed:
			return n, net.ErrClosed
		case s.writeDeadline.isOver(time.Now()):
			return n, os.ErrDeadlineExceeded
		case s.readClosed:
			return n, os.NewSyscallError("write", syscall.EPIPE)
		}
		if room := min(len(p), capacity-s.size); room > 0 {
			s.segments = append(s.segments, segment{time.Now().Add(s.latency), bytes.Clone(p[:room])})
			s.size += room
			n, p = n+room, p[room:]
			if s.latency > 0 {
				time.AfterFunc(s.latency, s.wake)
			}
			s.changed.Broadcast()
		}
		if len(p) == 0 {
			return n, nil
		}
		s.changed.Wait()
	}
}

// closeWrite ends the stream behind what was written.
func (s *stream) closeWrite(reset bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeClosed = true
	s.reset = s.reset || reset
	s.writeDeadline.stop()
	s.changed.Broadcast()
}

// closeRead drops what was not read, and reports whether there was anything.
func (s *stream) closeRead() (unread bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unread = s.size > 0
	s.segments, s.size = nil, 0
	s.readClosed = true
	s.readDeadline.stop()
	s.changed.Broadcast()
	return unread
}

// deadline is the time after which a stream gives up. The zero value is no deadline.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) isOver(now time.Time) bool { return !d.at.IsZero() && !now.Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// set changes the deadline and has wake called at that time.
func (d *deadline) set(at time.Time, wake func()) {
	d.stop()
	*d = deadline{at: at}
	if wait := time.Until(at); wait > 0 {
		d.timer = time.AfterFunc(wait, wake)
	}
}

// conn is one end of a connection.
type conn struct {
	in, out       *stream
	local, remote netip.AddrPort
	close         sync.Once
}

// newPair returns both ends of a connection.
func newPair(latency time.Duration, client, server netip.AddrPort) (clientEnd, serverEnd *conn) {
	toServer, toClient := newStream(latency), newStream(latency)
	clientEnd = &conn{in: toClient, out: toServer, local: client, remote: server}
	serverEnd = &conn{in: toServer, out: toClient, local: server, remote: client}
	return clientEnd, serverEnd
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(c.local) }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	if err != nil && err != io.EOF {
		err = c.error("read", err)
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	if err != nil {
		err = c.error("write", err)
	}
	return n, err
}

// CloseWrite ends what the other side reads, like the method of [net.TCPConn].
func (c *conn) CloseWrite() error {
	c.out.closeWrite(false)
	return nil
}

// Close implements net.Conn. If there is unread input, the other side sees that the connection was reset.
func (c *conn) Close() error {
	err := c.error("close", net.ErrClosed)
	c.close.Do(func() {
		unread := c.in.closeRead()
		c.out.closeWrite(unread)
		err = nil
	})
	return err
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.in.readClosed {
		return c.error("set", net.ErrClosed)
	}
	c.in.readDeadline.set(t, c.in.wake)
	c.in.changed.Broadcast()
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.out.writeClosed {
		return c.error("set", net.ErrClosed)
	}
	c.out.writeDeadline.set(t, c.out.wake)
	c.out.changed.Broadcast()
	return nil
}

func (c *conn) error(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
