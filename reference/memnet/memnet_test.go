package memnet_test

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/nettest"

	"github.com/agentconform/agentconform/reference/memnet"
)

// TestConn runs the tests of golang.org/x/net/nettest.
func TestConn(t *testing.T) {
	for name, network := range map[string]*memnet.Network{
		"without latency": {},
		"with latency":    {Latency: time.Millisecond, Spread: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			nettest.TestConn(t, func() (client, server net.Conn, stop func(), err error) {
				l, err := network.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					return nil, nil, nil, err
				}
				client, err = network.DialContext(context.Background(), "tcp", l.Addr().String())
				if err != nil {
					return nil, nil, nil, err
				}
				server, err = l.Accept()
				stop = func() { _, _, _ = client.Close(), server.Close(), l.Close() }
				return client, server, stop, err
			})
		})
	}
}

// site is a listener of a network with a latency of a second.
type site struct {
	*testing.T
	network  *memnet.Network
	listener net.Listener
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, test func(site)) {
	synctest.Test(t, func(t *testing.T) {
		n := &memnet.Network{Latency: time.Second}
		l, err := n.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		test(site{t, n, l})
	})
}

// connect returns both ends of a new connection.
func (s site) connect() (client, server net.Conn) {
	client, err := s.network.DialContext(s.Context(), "tcp", s.listener.Addr().String())
	require.NoError(s, err)
	server, err = s.listener.Accept()
	require.NoError(s, err)
	return client, server
}

func TestBytesArriveAfterLatencyAndBeforeEnd(t *testing.T) {
	inBubble(t, func(t site) {
		client, server := t.connect()
		start := time.Now()
		_, err := server.Write([]byte("bye"))
		require.NoError(t, err)
		require.NoError(t, server.Close())
		require.Zero(t, time.Since(start), "the writer does not wait")
		text, err := io.ReadAll(client)
		require.NoError(t, err)
		require.Equal(t, "bye", string(text))
		require.Equal(t, time.Second, time.Since(start))
		_, err = client.Write([]byte("too late"))
		require.ErrorIs(t, err, syscall.EPIPE)

		client, server = t.connect()
		require.NoError(t, server.Close())
		_, err = client.Write([]byte("on its way when the server closes"))
		require.NoError(t, err)
		time.Sleep(time.Second)
		_, err = client.Write([]byte("too late"))
		require.ErrorIs(t, err, syscall.EPIPE)
	})
}

func TestCloseWriteKeepsOtherHalfOpen(t *testing.T) {
	inBubble(t, func(t site) {
		client, server := t.connect()
		require.NoError(t, client.(interface{ CloseWrite() error }).CloseWrite())
		_, err := server.Read(make([]byte, 1))
		require.Equal(t, io.EOF, err)
		_, err = server.Write([]byte("still here"))
		require.NoError(t, err)
		require.NoError(t, server.Close())
		text, err := io.ReadAll(client)
		require.NoError(t, err)
		require.Equal(t, "still here", string(text))
	})
}

func TestUnreadInputResetsConnection(t *testing.T) {
	inBubble(t, func(t site) {
		client, server := t.connect()
		_, err := client.Write([]byte("unread"))
		require.NoError(t, err)
		require.NoError(t, server.Close())
		_, err = client.Read(make([]byte, 1))
		require.ErrorIs(t, err, syscall.ECONNRESET)
	})
}

func TestReadDeadline(t *testing.T) {
	inBubble(t, func(t site) {
		client, _ := t.connect()
		start := time.Now()
		require.NoError(t, client.SetReadDeadline(start.Add(time.Minute)))
		_, err := client.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(start))
	})
}

func TestListener(t *testing.T) {
	inBubble(t, func(t site) {
		n, l := t.network, t.listener
		_, err := n.Listen("tcp", l.Addr().String())
		require.ErrorIs(t, err, syscall.EADDRINUSE)
		waiting, err := n.DialContext(t.Context(), "tcp", l.Addr().String())
		require.NoError(t, err)
		require.NoError(t, l.Close())
		_, err = waiting.Read(make([]byte, 1))
		require.ErrorIs(t, err, syscall.ECONNRESET, "the connection was not accepted")
		_, err = n.DialContext(t.Context(), "tcp", l.Addr().String())
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}
