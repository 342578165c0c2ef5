package config

import "github.com/agentconform/agentconform/steps/config/nearmiss"

// NearMiss returns a credential with this mistake; "" where it changes nothing.
func NearMiss(credential string, m nearmiss.Mistake) string {
	if wrong := m.In(credential); wrong != credential {
		return wrong
	}
	return ""
}

// NearMiss returns the headers with which the user would ask, had each secret in them this mistake; nil where it changes nothing.
func (u User) NearMiss(m nearmiss.Mistake) map[string]string {
	headers, wrong := u.Headers, map[string]string{}
	if len(headers) == 0 {
		headers = map[string]string{"Authorization": "Bearer " + u.Token}
	}
	changed := false
	for name, value := range headers {
		wrong[name] = value
		if !public(name) {
			wrong[name], _ = m.InHeader(value)
			changed = changed || wrong[name] != value
		}
	}
	if !changed {
		return nil
	}
	return wrong
}
