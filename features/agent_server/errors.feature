@agent-server @form
Feature: Server errors of the agent server
  Statuses of 500 or above, judged on all answers that the suite has received.

  A conforming target may answer some requests with 429, or with 503 and Retry-After, which the suite obeys and
  counts.

  Background:
    Given a deployed agent server

  @AS-ERROR-1 @must @section-7 @last
  Rule: The agent server never answers with a status of 500 or above
    Judged on all answers that the suite has received. A 503 with Retry-After is not judged: the suite waits, sends the
    request again, and counts the 503.

    Scenario: The agent server answered no request of this run with a status of 500 or above
      Given an agent server that answered in this run
      When all its answers are read
      Then none has a status of 500 or above
