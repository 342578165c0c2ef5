package faults

import "slices"

func agentServer() []Fault {
	return slices.Concat(
		agentThreads(), agentRuns(), agentMistakes(), agentJoins(), agentStates(), agentTexts(),
		agentStrategies(), agentRemains(), agentReappearances(), agentLateStates(), agentCompleted(), agentConcurrent(), agentOtherThreads(), agentPendingJoins(),
		agentRefusals(), disguised(), agentAuthBypass(), agentEffects(), agentUsers(), agentForeignThreads(), agentExtensions(), agentListings(), agentMetadata(), agentDirections(),
		agentErrors(), agentContract(), agentRevisions(), agentInvariants(),
	)
}
