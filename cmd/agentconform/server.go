package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

const (
	// startLimit is the time in which a server that run starts must respond, unless --wait is given.
	startLimit = 60 * time.Second
	// stopLimit is the time in which a server must end after SIGTERM.
	stopLimit = 5 * time.Second
	// outputGrace is the time in which the remaining output of an ended server must arrive. A process that it started may
	// keep the output open.
	outputGrace = time.Second
)

// server is a process that run starts for the test run, and stops after it.
type server struct {
	command *exec.Cmd
	output  *lastLines
	redact  *client.Redactor
	ended   chan struct{} // closed when the process has ended

	mu  sync.Mutex
	end *target.Ending
}

// startServer starts the command after "--" in a separate process group, so that Ctrl-C does not reach it before the test
// run has removed the objects that it created. Its environment does not contain the secrets of the suite.
func startServer(ctx context.Context, cfg *config.Config, args []string) (*server, error) {
	s := &server{command: exec.Command(args[0], args[1:]...), output: &lastLines{}, ended: make(chan struct{}),
		redact: client.NewRedactor(cfg.Secrets(), cfg.Common()...)}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, config.EnvPrefix) {
			s.command.Env = append(s.command.Env, variable)
		}
	}
	s.command.Stdout, s.command.Stderr = s.output, s.output
	s.command.WaitDelay = outputGrace
	ownGroup(s.command)
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the server: %w; name the command after --, such as -- ./server --port 8123", err)
	}
	go s.wait()
	context.AfterFunc(ctx, s.killAtSecondSignal)
	return s, nil
}

// serverCommand accepts the command of a server after "--", and no other arguments.
func serverCommand(c *cobra.Command, args []string) error {
	if c.ArgsLenAtDash() != 0 {
		return noArguments("name the target with --target or --config, requirements with --only, and a server to start after --")(c, args)
	}
	if len(args) == 0 {
		return errors.New("name the server to start after --, such as -- ./server --port 8123")
	}
	return nil
}

// startServer starts the server of the test run and waits until it responds. The returned function stops it. If the
// server has ended early, the function prints the end of its output.
func (f *runFlags) startServer(ctx context.Context, c *cobra.Command, cfg *config.Config, args []string) (stop func(), err error) {
	addresses := strings.Join(cfg.Addresses(), " and ")
	if target.Await(ctx, cfg, 0) == nil {
		return nil, &exit{fmt.Errorf("%s answers before the server was started: stop the other server, or use another port", addresses),
			exitIncomplete}
	}
	s, err := startServer(ctx, cfg, args)
	if err != nil {
		return nil, err
	}
	stop = func() {
		end := s.Ended()
		s.stop()
		if end != nil && end.Failed {
			f.notify(c, "the server ended by itself: %s", end.How)
			_ = s.printLog(c.ErrOrStderr()) // an error of the terminal cannot be handled
		}
	}
	limit := cmp.Or(f.wait, startLimit)
	f.notify(c, "started %s, waiting until %s answers, at most %s", args[0], addresses, limit)
	if err := s.await(ctx, cfg, limit); err != nil {
		s.stop()
		_ = s.printLog(c.ErrOrStderr())
		return nil, &exit{fmt.Errorf("the server: %w", err), exitIncomplete}
	}
	f.options.Server = s
	return stop, nil
}

// wait records the end of the process.
func (s *server) wait() {
	err := s.command.Wait()
	how := "exit status 0"
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		how = err.Error()
	}
	s.mu.Lock()
	s.end = &target.Ending{At: time.Now(), How: how, Failed: err != nil && !errors.Is(err, exec.ErrWaitDelay)}
	s.mu.Unlock()
	close(s.ended)
}

// Ended returns the end of the process, or nil while it runs.
func (s *server) Ended() *target.Ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

// await waits until the addresses of the configuration respond. It returns an error if the server ends with an error
// before. If it ends without an error, it may have started another process.
func (s *server) await(ctx context.Context, cfg *config.Config, limit time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-s.ended:
			if end := s.Ended(); end.Failed {
				cancel(fmt.Errorf("it ended before it responded: %s", end.How))
			}
		case <-ctx.Done():
		}
	}()
	return target.Await(ctx, cfg, limit)
}

// stop ends the process and its children: with SIGTERM, and after a time limit with SIGKILL.
func (s *server) stop() {
	terminate(s.command)
	deadline := time.Now().Add(stopLimit)
	for isAlive(s.command) && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	kill(s.command)
	<-s.ended
}

// killAtSecondSignal kills the server when a second signal ends this program immediately.
func (s *server) killAtSecondSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	select {
	case <-s.ended:
	case got := <-signals:
		kill(s.command)
		code := 1
		if number, is := got.(syscall.Signal); is {
			code = 128 + int(number)
		}
		os.Exit(code)
	}
}

// printLog prints the end of the server's output.
func (s *server) printLog(w io.Writer) error {
	lines := s.output.lines()
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, "agentconform: the server printed nothing")
		return err
	}
	var text strings.Builder
	text.WriteString("agentconform: the end of the server's output:\n")
	for _, line := range lines {
		text.WriteString("  " + safe.Line(s.redact.Text(line)) + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// The suite keeps the last lines of a server's output, with a maximum length each.
const (
	keptLines = 40
	keptLine  = 400 // bytes
)

// lastLines keeps the last lines of the written text. It is safe for concurrent use.
type lastLines struct {
	mu   sync.Mutex
	all  []string
	line []byte // an incomplete line
}

// Write implements io.Writer.
func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		l.line = append(l.line, part[:min(len(part), keptLine-len(l.line))]...)
		if ended {
			l.all = append(l.all, string(l.line))
			l.all = l.all[max(0, len(l.all)-keptLines):]
			l.line = l.line[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (l *lastLines) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append([]string{}, l.all...)
	if len(l.line) > 0 {
		all = append(all, string(l.line))
	}
	return all[max(0, len(all)-keptLines):]
}
