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

// capacity is the size of the buffer in each direction, in bytes.
const capacity = 256 << 10

// stream carries bytes in one direction.
type stream struct {
	latency time.Duration

	mu            sync.Mutex
	changed       sync.Cond // broadcast after each change of the fields below
	segments      []segment // written but not read, oldest first
	size          int       // bytes in segments
	readDeadline  deadline
	writeDeadline deadline
	readClosed    bool      // the reader has closed the connection
	refuses       time.Time // the time from which the writer sees that the reader has closed
	writeClosed   bool      // the writer has closed the connection, or its half
	reset         bool      // the writer has closed the connection with unread input
	ends          time.Time // the time from which the reader sees that the writer has closed
}

// segment is the data of one write.
type segment struct {
	arrives time.Time
	data    []byte
}

func newStream(latency time.Duration) *stream {
	s := &stream{latency: latency}
	s.changed.L = &s.mu
	return s
}

// wake makes readers and writers check the stream again.
func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// read waits until bytes have arrived.
func (s *stream) read(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		now := time.Now()
		isOver := s.writeClosed && len(s.segments) == 0 && !now.Before(s.ends)
		switch {
		case s.readClosed:
			return 0, net.ErrClosed
		case s.readDeadline.isOver(now):
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case isOver && s.reset:
			return 0, os.NewSyscallError("read", syscall.ECONNRESET)
		case isOver:
			return 0, io.EOF
		}
		n = s.take(p, now)
		if n > 0 {
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
		first.data = first.data[moved:]
		if len(first.data) == 0 {
			s.segments = s.segments[1:]
		}
	}
	s.size -= n
	return n
}

// write buffers bytes. It waits while the buffer is full.
func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writeClosed:
			return n, net.ErrClosed
		case s.writeDeadline.isOver(time.Now()):
			return n, os.ErrDeadlineExceeded
		case s.readClosed && !time.Now().Before(s.refuses):
			return n, os.NewSyscallError("write", syscall.EPIPE)
		case s.readClosed: // the bytes are lost
			return n + len(p), nil
		}
		if room := min(len(p), capacity-s.size); room > 0 {
			s.segments = append(s.segments, segment{s.arrival(), bytes.Clone(p[:room])})
			s.size += room
			n, p = n+room, p[room:]
		}
		if len(p) == 0 {
			return n, nil
		}
		s.changed.Wait()
	}
}

// arrival returns the arrival time of bytes that are sent now, and wakes the reader at that time. The caller holds the
// lock.
func (s *stream) arrival() time.Time {
	at := time.Now().Add(s.latency)
	if s.latency > 0 {
		time.AfterFunc(s.latency, s.wake)
	}
	s.changed.Broadcast()
	return at
}

// closeWrite ends the stream after the written bytes.
func (s *stream) closeWrite(reset bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.writeClosed {
		s.ends = s.arrival()
	}
	s.writeClosed = true
	s.reset = s.reset || reset
	s.writeDeadline.stop()
	s.changed.Broadcast()
}

// closeRead drops unread bytes and reports whether there were any.
func (s *stream) closeRead() (unread bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unread = s.size > 0
	s.segments, s.size = nil, 0
	if !s.readClosed {
		s.refuses = s.arrival()
	}
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

// set changes the deadline. It calls wake at that time.
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
	closeOnce     sync.Once
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
		err = c.opError("read", err)
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	if err != nil {
		err = c.opError("write", err)
	}
	return n, err
}

// CloseWrite ends the input of the other side, like the method of [net.TCPConn].
func (c *conn) CloseWrite() error {
	c.out.closeWrite(false)
	return nil
}

// Close implements net.Conn. If there is unread input, the other side sees that the connection was reset.
func (c *conn) Close() error {
	err := c.opError("close", net.ErrClosed)
	c.closeOnce.Do(func() {
		unread := c.in.closeRead()
		c.out.closeWrite(unread)
		err = nil
	})
	return err
}

// reset closes a connection that was not accepted.
func (c *conn) reset() {
	c.in.closeRead()
	c.out.closeWrite(true)
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
		return c.opError("set", net.ErrClosed)
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
		return c.opError("set", net.ErrClosed)
	}
	c.out.writeDeadline.set(t, c.out.wake)
	c.out.changed.Broadcast()
	return nil
}

// opError returns an error of an operation, with the addresses.
func (c *conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
