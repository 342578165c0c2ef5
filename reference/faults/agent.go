package faults

import "slices"

func agentServer() []Fault {
	return slices.Concat(
		agentThreads(), agentRuns(), agentMistakes(), agentJoins(), agentStates(), agentTexts(),
		agentStrategies(), agentRemains(), agentReappearances(), agentLateStates(), agentCompleted(), agentConcurrent(), agentOtherThreads(), agentPendingJoins(),
		disguised(), agentAuthBypass(), agentUsers(), agentForeignThreads(), agentListings(), agentMetadata(), agentDirections(),
		agentRevisions(), agentInvariants(),
	)
}
