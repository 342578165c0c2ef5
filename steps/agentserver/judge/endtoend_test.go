package judge

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func revisionRows() []judgetest.Row {
	return []judgetest.Row{
		{Name: "two equal answers", Got: AnswersAreEqual("x", "x")},
		{Name: "two different answers", Got: AnswersAreEqual("x", "y"), Verdict: reports.Inconclusive},
		{Name: "a new answer", Got: AnswerIsNew(stateOf(ai("y")), "y", "x")},
		violation("the answer of the first revision", outcome.Stale, AnswerIsNew(stateOf(ai("x")), "x", "x")),
	}
}
