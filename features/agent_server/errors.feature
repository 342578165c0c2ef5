@agent-server @form
@shares:agent-server @record
Feature: Server errors of the agent server
  Statuses of 500 or above, judged on all answers that the suite has received.

  A conforming target may answer some requests with 429, or with 503 and Retry-After, which the suite obeys and
  counts.

  Background:
    Given a deployed agent server

  @AS-ERROR-1 @must @section-4 @section-7 @last
  @anonymous
  Rule: The agent server answers no request that keeps the contract with a status of 500 or above
    "Thread with thread_id ... Run with run_id ... Responds when the run completes ... The run ... State with
    values.messages ... List of threads"
    Judged on all answers that the suite has received. A 503 with Retry-After is not judged: the suite waits, sends the
    request again, and counts the 503. The join of a run whose graph raised an error may be answered with 500, which is
    noted.

    Scenario: The agent server answered no valid request of this run with a status of 500 or above
      Given an agent server that answered in this run
      When all its answers to requests that keep the contract are read
      Then none has a status of 500 or above

  @AS-ERROR-2 @should @section-4 @section-7 @last
  @writes
  Rule: The agent server answers no request that breaks the contract with a status of 500 or above
    Judged on all answers that the suite has received: a body that is not valid JSON, or does not match the contract. So
    are operations beyond the interface, and GET and join of a run that a rollback has removed. The interface does not
    say how such requests are answered.

    Scenario: The agent server answered no invalid request of this run with a status of 500 or above
      Given an agent server that answered in this run
      When all its answers to requests that break the contract are read
      Then none has a status of 500 or above
