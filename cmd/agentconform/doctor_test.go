package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/doctor"
)

func TestShowExamination(t *testing.T) {
	t.Parallel()
	e := &doctor.Examination{Judged: 1, Total: 2, Checks: []doctor.Check{
		{State: doctor.Fine, Subject: "plan", Found: "little"},
		{State: doctor.Problem, Subject: "control plane", Found: "says \x1b[2J\nnothing", Remedy: "start it"},
	}}
	var plain, colored strings.Builder
	require.NoError(t, showExamination(&plain, e, false))
	require.NoError(t, showExamination(&colored, e, true))
	assert.Equal(t, "ok       plan           little\n"+
		"problem  control plane  says \\x1b[2J ⏎ nothing; start it\n\n"+
		"The target cannot be tested yet: control plane: says \\x1b[2J ⏎ nothing.\n", plain.String())
	without := strings.NewReplacer("\x1b[32m", "", "\x1b[31;1m", "", "\x1b[0m", "").Replace(colored.String())
	assert.NotEqual(t, colored.String(), without)
	assert.Equal(t, plain.String(), without, "colours change nothing else")
}
