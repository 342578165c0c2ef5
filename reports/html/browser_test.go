package html_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/websocket"
)

// browser is a headless Chromium that is driven over its debugging protocol: enough of it to look at a page.
type browser struct {
	t       *testing.T
	conn    *websocket.Conn
	session string
	nextID  int
	events  chan message

	mu      sync.Mutex
	waiting map[int]chan message
	console []string // errors and warnings
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// openBrowser starts Chromium, or skips the test where there is none.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("the browser is not started in short mode")
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no chromium is installed: the page is not looked at in a browser (apt-get install chromium)")
	}
	profile, err := os.MkdirTemp("", "agentconform-browser-*")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--remote-debugging-port=0", "--remote-allow-origins=http://127.0.0.1", "--user-data-dir="+profile, "about:blank")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()            // killed: its error tells nothing
		_ = os.RemoveAll(profile) // its helpers may still be writing: what they leave is the system's to clean
	})
	address := ""
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
			address = strings.TrimSpace(rest)
			break
		}
	}
	require.NotEmpty(t, address, "chromium has not opened its debugging port")
	go func() {
		for lines.Scan() { // a full pipe would stop the browser
		}
	}()
	conn, err := websocket.Dial(address, "", "http://127.0.0.1")
	require.NoError(t, err)
	conn.MaxPayloadBytes = 64 << 20
	b := &browser{t: t, conn: conn, events: make(chan message, 64), waiting: map[int]chan message{}}
	done := make(chan struct{})
	go func() { defer close(done); b.read() }()
	t.Cleanup(func() {
		_ = websocket.JSON.Send(conn, map[string]any{"id": 1 << 30, "method": "Browser.close"}) // let it end by itself
		select {
		case <-done:
		case <-time.After(5 * time.Second):
		}
		_ = conn.Close()
		<-done
	})
	b.attach()
	return b
}

// read hands answers to those who wait for them, and collects what the page complains about.
func (b *browser) read() {
	for {
		var m message
		if err := websocket.JSON.Receive(b.conn, &m); err != nil {
			return
		}
		b.mu.Lock()
		if answer := b.waiting[m.ID]; answer != nil {
			answer <- m
			delete(b.waiting, m.ID)
		}
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded":
			b.console = append(b.console, string(m.Params))
		case "Runtime.consoleAPICalled":
			b.console = append(b.console, string(m.Params))
		case "Page.loadEventFired":
			select {
			case b.events <- m:
			default:
			}
		}
		b.mu.Unlock()
	}
}

func (b *browser) call(method string, params map[string]any) json.RawMessage {
	b.t.Helper()
	b.mu.Lock()
	b.nextID++
	answer := make(chan message, 1)
	b.waiting[b.nextID] = answer
	request := map[string]any{"id": b.nextID, "method": method, "params": params}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	b.mu.Unlock()
	require.NoError(b.t, websocket.JSON.Send(b.conn, request))
	select {
	case m := <-answer:
		require.Nil(b.t, m.Error, "%s: %v", method, m.Error)
		return m.Result
	case <-time.After(30 * time.Second):
		require.FailNow(b.t, "no answer from the browser", method)
		return nil
	}
}

func (b *browser) attach() {
	var target struct{ TargetID string }
	require.NoError(b.t, json.Unmarshal(b.call("Target.createTarget", map[string]any{"url": "about:blank"}), &target))
	var attached struct{ SessionID string }
	require.NoError(b.t, json.Unmarshal(b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}), &attached))
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil)
	}
}

// size sets the window; scheme is "light" or "dark".
func (b *browser) size(width, height int, scheme string) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
}

// open loads a file and returns how long that took.
func (b *browser) open(path, hash string) time.Duration {
	b.t.Helper()
	absolute, err := filepath.Abs(path)
	require.NoError(b.t, err)
	b.call("Page.navigate", map[string]any{"url": "about:blank"})
	<-b.events
	start := time.Now()
	b.call("Page.navigate", map[string]any{"url": "file://" + absolute + hash})
	select {
	case <-b.events:
	case <-time.After(30 * time.Second):
		require.FailNow(b.t, "the page does not load")
	}
	return time.Since(start)
}

// eval runs an expression in the page and returns its value as text.
func (b *browser) eval(format string, args ...any) string {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	raw := b.call("Runtime.evaluate", map[string]any{"expression": fmt.Sprintf(format, args...), "returnByValue": true, "awaitPromise": true})
	require.NoError(b.t, json.Unmarshal(raw, &answer))
	require.Empty(b.t, string(answer.ExceptionDetails))
	return fmt.Sprint(answer.Result.Value)
}

// key presses a key.
func (b *browser) key(key string) {
	params := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		params["text"] = key
	}
	b.call("Input.dispatchKeyEvent", params)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
}

// picture writes what is seen to $AGENTCONFORM_PICTURES/name.png, for a person to look at.
func (b *browser) picture(name string) {
	dir := os.Getenv("AGENTCONFORM_PICTURES")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	require.NoError(b.t, json.Unmarshal(b.call("Page.captureScreenshot", map[string]any{"format": "png"}), &shot))
	require.NoError(b.t, os.MkdirAll(dir, 0o755))
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644))
}

// complaints returns all that the pages wrote to the console, and every script error.
func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.console
}
