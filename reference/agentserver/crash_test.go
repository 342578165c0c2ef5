package agentserver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// crashFile names, in the environment, the database with which the test binary serves until it is killed.
const crashFile = "AGENTSERVER_TEST_CRASH_FILE"

// crash is the process that TestNothingAcknowledgedIsLostInACrash kills.
func crash(file string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	app, err := loadFiles(map[string]string{
		"main.star": "def agent(messages, config, ctx):\n  ctx.write('begun ' + messages[-1]['content'])\n  if messages[-1]['content'] == 'slow': ctx.wait(1e9)\n  return 'done'\n"})
	fail(err)
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{Timeout: watchdog})
	fail(err)
	server, err := New(app, db, "agent", nil, Options{})
	fail(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	fmt.Println("http://" + l.Addr().String())
	fail(http.Serve(l, server))
}

func TestNothingAcknowledgedIsLostInACrash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crash.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashFile+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	s := &site{t: t, url: strings.TrimSpace(line), client: &http.Client{Timeout: watchdog}}
	s.client.Transport = s.checked(http.DefaultTransport)
	u := s.nobody()
	ended, slow := u.thread(), u.thread()
	endedRun := u.runOf("main", ended, "quick", "")
	u.join(ended, endedRun)
	slowRun := u.runOf("main", slow, "slow", "")
	u.untilText(slow, "begun slow")
	waiting := u.runOf("main", slow, "waiting", "enqueue")
	var acknowledged []string
	for range 20 {
		acknowledged = append(acknowledged, u.thread())
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed: that is an error by definition
	s.client.CloseIdleConnections()

	app := appOf(t, map[string]string{"main.star": echo})
	db := openDB(t, file)
	server, err := New(app, db, "agent", nil, Options{})
	require.NoError(t, err)
	s = (&site{t: t, server: server, db: db}).direct()
	u = s.nobody()
	for _, thread := range acknowledged {
		u.ok("GET", "/threads/"+thread, "")
	}
	assert.Equal(t, []string{"human: quick", "ai: begun quick", "ai: done"}, u.texts(ended))
	assert.Equal(t, threads.StatusSuccess, u.getRun(ended, endedRun).Status)
	for _, run := range []string{slowRun, waiting} {
		r := u.getRun(slow, run)
		assert.Equal(t, threads.StatusInterrupted, r.Status)
		assert.Equal(t, reasonStopped, r.Reason)
		assert.Equal(t, 200, u.join(slow, run).status, "a run that was interrupted has ended")
	}
	assert.Equal(t, []string{"human: slow", "ai: begun slow"}, u.texts(slow))
	u.join(slow, u.runOf("main", slow, "again", "reject"))
	assert.Equal(t, "ai: heard again", u.texts(slow)[3])
	require.NoError(t, server.Close(context.Background()))
	require.NoError(t, db.Close())
}

func TestCloseInterruptsAndDeleteDataDeletes(t *testing.T) {
	app := appOf(t, map[string]string{"main.star": "def agent(messages, config, ctx):\n  ctx.wait(1e9)\n"})
	db := openDB(t, filepath.Join(t.TempDir(), "close.db"))
	server, err := New(app, db, "agent", nil, Options{})
	require.NoError(t, err)
	s := (&site{t: t, server: server, db: db, url: ""}).direct()
	u := s.nobody()
	thread := u.thread()
	running, pending := u.runOf("main", thread, "x", ""), u.runOf("main", thread, "x", "")
	joined := make(chan answered, 2)
	for _, run := range []string{running, pending} {
		go func() { joined <- u.join(thread, run) }()
	}
	require.Eventually(t, func() bool { return u.getRun(thread, running).Status == threads.StatusRunning }, watchdog, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	defer cancel()
	require.NoError(t, server.Close(ctx))
	for range 2 {
		select {
		case a := <-joined:
			assert.Contains(t, []int{200, 503}, a.status)
		case <-ctx.Done():
			t.Fatal("join hangs")
		}
	}
	assert.Equal(t, 503, u.do("POST", "/threads", "{}").status)
	assert.Equal(t, 503, u.do("POST", "/threads/"+thread+"/runs", runBody("main", "x", "")).status)

	server, err = New(app, db, "agent", nil, Options{})
	require.NoError(t, err)
	u = (&site{t: t, server: server, db: db}).direct().nobody()
	for _, run := range []string{running, pending} {
		assert.Equal(t, threads.StatusInterrupted, u.getRun(thread, run).Status)
	}
	require.NoError(t, server.DeleteData())
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		assert.Nil(t, tx.Bucket([]byte("agent")))
		return nil
	}))
	require.NoError(t, db.Close())
}
