package api_test

import (
	"testing"

	"example.com/api"
	"github.com/agentconform/agentconform/steps/conformance"
)

func TestAPI(t *testing.T) {
	conformance.Test(t, conformance.Target{Handler: api.New(), Config: "agentconform.yaml"})
}
