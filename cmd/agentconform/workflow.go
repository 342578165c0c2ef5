package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/events"
	"github.com/agentconform/agentconform/reports/github"
	"github.com/agentconform/agentconform/reports/markdown"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/steps/target"
)

// inWorkflow does the work of a command. With --format github, GitHub ignores commands in the output until a line has the
// token, because the output may contain text of the target. If the work ends with an error and without reports, the error
// becomes an annotation.
func (f *runFlags) inWorkflow(out io.Writer, work func() error) error {
	if f.format != formatGitHub {
		return work()
	}
	f.token = rand.Text()
	if _, err := fmt.Fprintf(out, "::stop-commands::%s\n", f.token); err != nil {
		return err
	}
	err := work()
	if err != nil && f.token != "" { // there is no report
		return errors.Join(err, f.resumeCommands(out), github.Error(out, err.Error()))
	}
	return err
}

// resumeCommands ends the part of the output in which GitHub ignores commands.
func (f *runFlags) resumeCommands(out io.Writer) error {
	_, err := fmt.Fprintf(out, "\n::%s::\n", f.token)
	f.token = ""
	return err
}

// reportToWorkflow writes the annotations, the summary of the job and the outputs of the step.
func (f *runFlags) reportToWorkflow(out io.Writer, r *reports.Result) error {
	return errors.Join(f.resumeCommands(out), github.Annotations(out, r, f.out),
		appendTo("GITHUB_STEP_SUMMARY", func(w io.Writer) error { return markdown.Write(w, r) }),
		appendTo("GITHUB_OUTPUT", func(w io.Writer) error { return github.Outputs(w, r, f.out, rand.Text()) }))
}

// appendTo appends to the file that a variable of the environment names, if it is set.
func appendTo(variable string, write func(io.Writer) error) error {
	name := os.Getenv(variable)
	if name == "" {
		return nil
	}
	file, err := outfile.Append(name)
	if err == nil {
		err = errors.Join(write(file), file.Close())
	}
	if err != nil {
		return fmt.Errorf("writing the file of %s: %w", variable, err)
	}
	return nil
}

// writeEvent writes an event of a test run as JSON. It omits polls and waits, which programs do not need.
func writeEvent(w *events.Writer, e target.Event) {
	switch e.Kind {
	case target.Planned:
		if e.Repetition > 1 { // the number of repetitions
			w.Repeat(1)
		}
		w.Start(events.Start{At: time.Now().UTC(), Target: e.Name, Scenarios: e.Total, Deployments: e.Deployments, Seed: e.Seed})
	case target.Repeating:
		w.Repeat(e.Repetition)
	case target.Ended, target.Changed:
		w.Scenario(events.Scenario{Requirement: e.Text, Name: e.Name, Verdict: e.Verdict, Decides: e.Decides,
			Reason: e.Reason, DurationMS: e.Elapsed.Milliseconds()})
	}
}
