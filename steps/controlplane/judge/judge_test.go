package judge

import (
	"testing"

	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// TestJudgements runs the tables of all files, and compares all messages with testdata/messages.golden.
func TestJudgements(t *testing.T) {
	judgetest.Run(t, "testdata/messages.golden",
		responseRows(),
		listRows(), orderRows(), pageRows(), parameterRows(), filterRows(),
		retrieveRows(), configRows(), timeRows(),
		createRows(), readOnlyRows(),
		lifecycleRows(), agreementRows(),
		updateRows(), keptRows(),
		accessRows(),
		idRows())
}
