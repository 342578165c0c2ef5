package agentserver

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentconform/agentconform/reference/script"
)

// hostNames are what graphs and handlers find beside the names of the language:
//
//	fail_http(status, detail)   ends a handler: the request is answered with this status and detail
//	is_studio_user(user)        tells whether the user comes from the visual development environment
func hostNames() starlark.StringDict {
	return starlark.StringDict{
		"fail_http":      script.Func("fail_http", failHTTP),
		"is_studio_user": script.Func("is_studio_user", isStudioUser),
	}
}

func failHTTP(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var status int
	var detail string
	if err := starlark.UnpackArgs("fail_http", args, kwargs, "status", &status, "detail?", &detail); err != nil {
		return nil, err
	}
	if status < 400 || status > 599 {
		return nil, fmt.Errorf("fail_http: the status of a refusal is 400 to 599, not %d", status)
	}
	return nil, &HTTPError{status, detail}
}

func isStudioUser(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var user starlark.Value
	if err := starlark.UnpackPositionalArgs("is_studio_user", args, kwargs, 1, &user); err != nil {
		return nil, err
	}
	r, ok := user.(*script.Record)
	return starlark.Bool(ok && r.Kind() == kindStudio), nil
}
