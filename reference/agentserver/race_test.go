//go:build race

package agentserver

func init() { share = 5 }
