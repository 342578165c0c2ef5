// Package agentserver holds what the sentences about the agent server mean (sections 2 to 5 and 7 of the interface): one file
// a subject, with the patterns at its top. It judges; speaking with agent servers is for package agent.
package agentserver
