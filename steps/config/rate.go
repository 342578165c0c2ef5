package config

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Every is how much time lies between two requests at least by the key rate, 0 where there is no limit. The configuration was validated.
func (c *Config) Every() time.Duration {
	every, _ := parseRate(c.Rate)
	return every
}

var errRate = errors.New("is not a rate")

// parseRate reads a number of requests and the unit of time: "5/s", "300/m", "1000/h".
func parseRate(text string) (every time.Duration, err error) {
	if text == "" {
		return 0, nil
	}
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(number)
	per, known := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if err != nil || n <= 0 || !known || per/time.Duration(n) <= 0 {
		return 0, errRate
	}
	return per / time.Duration(n), nil
}
