//go:build browser

package html_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/html"
)

// browser is a headless Chromium with one page.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	console []string // messages and script errors
}

// openBrowser starts Chromium. It skips the test if there is none.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("chromium is not installed (apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], // headless, without background networking and sync
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	b := &browser{t: t}
	ctx, closePage := chromedp.NewContext(allocator, chromedp.WithListener(b.listen))
	t.Cleanup(closePage)
	b.ctx = ctx
	call(b, log.Enable, cdp.Empty{})
	return b
}

// listen records messages and errors of the page.
func (b *browser) listen(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		text = fmt.Sprint("console.", e.Type)
	case *log.EventEntryAdded:
		text = e.Entry.Text
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = append(b.console, text)
}

// call sends a command of the DevTools protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	require.NoError(b.t, err, command.Method)
}

// size sets the size of the window and the color scheme, "light" or "dark".
func (b *browser) size(width, height int64, scheme string) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// open loads a file and waits until it is loaded and its script, if any, has read the exchanges.
func (b *browser) open(path, hash string) {
	b.t.Helper()
	absolute, err := filepath.Abs(path)
	require.NoError(b.t, err)
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+absolute+hash)))
	b.eval("typeof ready === 'undefined' ? 0 : ready.then(() => 0)")
}

// eval runs an expression in the page and returns its value as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](expression, chromedp.EvalAwaitPromise, chromedp.EvalAsValue))
	if !errors.Is(err, chromedp.ErrJSUndefined) {
		require.NoError(b.t, err)
	}
	return fmt.Sprint(value)
}

// key presses a key: a character, or a named key. chromedp.KeyEvent is not suitable: it sends the text as a separate
// event, so that a page cannot keep the character of a shortcut out of a text field.
func (b *browser) key(key string) {
	b.t.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key}
	if len(key) == 1 {
		down.Text = key
	}
	call(b, input.DispatchKeyEvent, down)
	call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key})
}

// complaints returns the messages and script errors in the console.
func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.console
}

// pages writes the pages of results into a folder.
func pages(t *testing.T, results map[string]*reports.Result) string {
	t.Helper()
	dir := t.TempDir()
	for name, r := range results {
		var b bytes.Buffer
		require.NoError(t, html.Write(&b, r))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".html"), b.Bytes(), 0o600))
	}
	return dir
}
