package independent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// longestWait bounds what a message may ask for.
const longestWait = time.Minute

var errAsked = errors.New("the message asked for a failure")

// message makes one of the state's messages (interface, section 2), with more members than it has to have.
func message(kind, content string) object {
	return object{"id": "msg-" + uuid.NewString(), "type": kind, "content": content, "extras": object{"type": "none"}, "name": nil}
}

// userObject is what the authentication handler returns: identity, custom fields, and a secret for the graph alone.
func userObject(u User) object {
	return object{"identity": u.Identity, "role": u.Role, "is_studio_user": u.Studio, "choir": object{"row": 2}, "secret": u.Token}
}

// order is what the last human message asks of the conformance graph.
type order struct {
	text                 string
	wait, afterWrite     time.Duration
	whoami, tool, failed bool
}

func readOrder(input []object) order {
	var o order
	for _, m := range input {
		if m["type"] == "human" {
			o.text, _ = m["content"].(string)
		}
	}
	for _, word := range strings.Fields(o.text) {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(value, 10, 32)
		span := min(time.Duration(max(n, 0))*time.Millisecond, longestWait)
		switch {
		case key == "wait" && err == nil:
			o.wait = span
		case key == "wait-after-write" && err == nil:
			o.afterWrite = span
		}
		o.whoami = o.whoami || word == "whoami"
		o.tool = o.tool || word == "tool"
		o.failed = o.failed || word == "fail"
	}
	return o
}

// parrot is the conformance graph: messages in, one ai message out, steered by words of the last human message.
func parrot(ctx context.Context, config object, input []object, write func(object) error) error {
	o := readOrder(input)
	configurable, _ := config["configurable"].(object)
	if o.wait > 0 && !pause(ctx, o.wait) {
		return context.Cause(ctx)
	}
	if o.afterWrite > 0 {
		if err := write(message("ai", "(clears its throat)")); err != nil {
			return err
		}
		if !pause(ctx, o.afterWrite) {
			return context.Cause(ctx)
		}
	}
	if o.failed {
		return errAsked
	}
	answer := fmt.Sprintf("%s says <<%s>>, over & out", configurable["voice"], o.text)
	if o.tool {
		found := "looked up: " + o.text
		if err := write(message("tool", found)); err != nil {
			return err
		}
		answer += "; I " + found
	}
	if o.whoami {
		var err error
		if answer, err = describe(configurable["graph_auth_user"]); err != nil {
			return err
		}
	}
	return write(message("ai", answer))
}

// describe renders the caller's user object without its secret, null where there is none.
func describe(v any) (string, error) {
	user, ok := v.(object)
	if !ok {
		return "null", nil
	}
	shown := object{}
	for k, field := range user {
		if k != "secret" {
			shown[k] = field
		}
	}
	b, err := json.MarshalIndent(shown, "", "  ")
	if err != nil {
		return "", fmt.Errorf("rendering the user object: %w", err)
	}
	return string(b), nil
}
