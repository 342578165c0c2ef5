package judge

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func revisionRows() []judgetest.Row {
	return []judgetest.Row{
		{Name: "two equal answers", Got: AnswersAreEqual("x", "x")},
		{Name: "two different answers", Got: AnswersAreEqual("x", "y"), Verdict: reports.Inconclusive},
		{Name: "a new answer", Got: AnswerIsNew(stateOf(ai("y")), "y", "x", "alternatives.repo_ref")},
		violation("the answer of the first revision", outcome.Stale, AnswerIsNew(stateOf(ai("x")), "x", "x", "alternatives.repo_ref")),
	}
}

// TestAnswerIsNewNamesTheKey checks that the hint names the key of the second source.
func TestAnswerIsNewNamesTheKey(t *testing.T) {
	o, isOutcome := errors.AsType[*outcome.Outcome](AnswerIsNew(stateOf(ai("x")), "x", "x", "alternatives.image_uri"))
	require.True(t, isOutcome)
	assert.Equal(t, "correct alternatives.image_uri if the graph of that source returns the same ai message", o.Violations[0].Hint)
}
