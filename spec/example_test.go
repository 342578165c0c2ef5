package spec_test

import (
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/spec"
)

func ExampleOracle_JudgeResponse() {
	oracle, err := spec.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range oracle.JudgeResponse(spec.Exchange{
		Side:   spec.ControlPlane,
		Method: "GET",
		Path:   "/v2/deployments/3f2a8c1e-5b7d-4e9f-8a6c-0d1e2f3a4b5c/revisions",
		Status: 200,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Body:   []byte(`{"resources": null, "offset": "0"}`),
	}) {
		fmt.Println(v)
	}
	// Output:
	// list-revisions 200: /offset: type: expected integer, got "0"
	// list-revisions 200: /resources: type: expected array, got null
}
