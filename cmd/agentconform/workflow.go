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

// stopCommands makes GitHub ignore the commands in the output, whoever wrote them, until a line has the token.
func stopCommands(out io.Writer) (token string, err error) {
	token = rand.Text()
	_, err = fmt.Fprintf(out, "::stop-commands::%s\n", token)
	return token, err
}

// resumeCommands ends the part of the output in which GitHub ignores commands.
func resumeCommands(out io.Writer, token string) error {
	_, err := fmt.Fprintf(out, "\n::%s::\n", token)
	return err
}

// inWorkflow does the work of a command. With --format github, GitHub ignores commands in its output, and the error of work
// that has ended without reports becomes an annotation.
func (f *runFlags) inWorkflow(out io.Writer, work func() error) error {
	if f.format != formatGitHub {
		return work()
	}
	var err error
	f.token, err = stopCommands(out)
	if err != nil {
		return err
	}
	err = work()
	if err != nil && f.token != "" { // there is no report
		return errors.Join(err, reportErrorToWorkflow(out, err, f.token))
	}
	return err
}

// reportErrorToWorkflow writes an annotation with the error that ended a test run without a result.
func reportErrorToWorkflow(out io.Writer, ended error, token string) error {
	return errors.Join(resumeCommands(out, token), github.Error(out, ended.Error()))
}

// reportToWorkflow writes the annotations, the summary of the job and the outputs of the step.
func reportToWorkflow(out io.Writer, r *reports.Result, folder, token string) error {
	return errors.Join(resumeCommands(out, token), github.Annotations(out, r, folder),
		appendTo("GITHUB_STEP_SUMMARY", func(w io.Writer) error { return markdown.Write(w, r) }),
		appendTo("GITHUB_OUTPUT", func(w io.Writer) error { return github.Outputs(w, r, folder, rand.Text()) }))
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

// writeEvent writes an event of a test run as JSON. Programs need neither polls nor waits.
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
