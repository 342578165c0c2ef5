@agent-server
Feature: What the agent server never says
  Server errors of the agent server, judged on all answers that the suite has seen.

  A conforming target may answer some requests with 429, or with 503 and Retry-After, which the suite obeys and
  counts.

  Background:
    Given a deployed agent server

  @AS-ERROR-1 @must @section-7 @last
  Rule: The agent server never answers with a status of 500 or above
    Judged on all answers that the suite has seen. A 503 with Retry-After is not judged: the suite waits, sends the
    request again, and counts the 503.

    Scenario: No request of this run was answered with a status of 500 or above by the agent server
      Given an agent server that answered in this run
      When all its answers are looked at
      Then none is a server error
