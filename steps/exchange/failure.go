package exchange

import "errors"

// NoResponse is the error of a request without a response.
type NoResponse struct {
	Request Request
	Cause   string // readable cause, such as "connection refused"
	Remedy  string // how to fix the cause, or ""
	Timeout bool   // the target received the request and did not respond in time
	Closed  bool   // the target received the request and closed the connection
	Busy    int    // status of a response that asks the client to wait too long or too often, or 0
	Stage   Stage  // stage at which the request failed
	ID      int    // of the recorded exchange
	Err     error  // network error
}

// Unwrap returns the network error, to distinguish a certificate error from a refused connection.
func (e *NoResponse) Unwrap() error { return e.Err }

func (e *NoResponse) Error() string {
	return e.Request.Method + " " + e.Request.Path + ": " + e.Message()
}

// Message returns the cause and the remedy.
func (e *NoResponse) Message() string {
	if e.Remedy == "" {
		return e.Cause
	}
	return e.Cause + "; " + e.Remedy
}

// Longer returns the remedy for a timeout: the key of the timeout that applied to the request.
func (e *NoResponse) Longer() string {
	key := "timeouts.request"
	if e.Request.Waits {
		key = "timeouts.run"
	}
	return "raise " + key + " if the target needs longer"
}

// Reason returns the message of an error. For a NoResponse, it omits the method and the path.
func Reason(err error) string {
	if none, is := errors.AsType[*NoResponse](err); is {
		return none.Message()
	}
	return err.Error()
}

// IsClosed reports whether the target received a request and closed the connection without a response.
func IsClosed(err error) bool {
	none, is := errors.AsType[*NoResponse](err)
	return is && none.Closed
}

// Stage is a stage of sending a request.
type Stage string

// The stages of a request, in their order.
const (
	StageDNS   Stage = "DNS"   // the host name was not resolved
	StageProxy Stage = "proxy" // the proxy was not reached, or refused to connect
	StageTCP   Stage = "TCP"   // no connection to the address, or to the socket
	StageTLS   Stage = "TLS"   // no secure connection
	StageHTTP  Stage = "HTTP"  // connected, but without a valid response
)

// RefusedAddress is the error for an address from the control plane. The suite sends no requests to it.
type RefusedAddress struct {
	Why    string
	Key    string // key of the configuration that allows the address, or ""
	Remedy string
}

func (n *RefusedAddress) Error() string { return n.Why }
