package faults

func agentServer() []Fault { return nil }
