package agentserver

import (
	"maps"

	"github.com/agentconform/agentconform/reference/script"
)

// The kinds of users, which scripts see as type(user).
const (
	kindUser   = "User"
	kindStudio = "StudioUser"
)

// User is who sent a request: what the authentication handler returned (interface, section 2, "Authenticated user object").
type User struct {
	Identity string
	Fields   map[string]any // all of the object, identity included
	Studio   bool           // from the visual development environment (interface, section 5, item 7)
}

// owner is the user of a server without an authentication handler: the owner of the API key.
func owner(identity string, studio bool) User {
	return User{Identity: identity, Studio: studio, Fields: map[string]any{"identity": identity, "display_name": identity}}
}

func (u User) kind() string {
	if u.Studio {
		return kindStudio
	}
	return kindUser
}

// record is the user as scripts see it.
func (u User) record(s *script.Session) (*script.Record, error) {
	return s.Record(u.kind(), maps.Clone(u.Fields))
}
