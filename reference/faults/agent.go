package faults

import "slices"

func agentServer() []Fault {
	return slices.Concat(
		agentThreads(), agentRuns(), agentMistakes(), agentJoins(), agentStates(), agentTexts(),
		agentStrategies(), agentRemains(), agentReturns(), agentCompleted(), agentRivals(), agentBystanders(), agentWaiters(),
		agentRefusals(), agentDoors(), agentEffects(), agentUsers(), agentForeigners(), agentListings(), agentMetadata(),
		agentErrors(), agentContract(), agentRevisions(),
	)
}
