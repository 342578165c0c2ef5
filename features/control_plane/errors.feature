@control-plane
Feature: What the control plane says when it refuses
  (interface, sections 2, 4 and 7)

  @CP-ERROR-1 @must @section-4 @last
  Rule: Every 404 of the list of revisions is JSON with a text as detail

    Scenario: Every 404 of the list that was seen in this run has a detail
      Given a list of revisions that was not found in this run
      When all such answers are looked at
      Then each is JSON with a text as detail

  @CP-ERROR-2 @must @section-2 @section-7 @last
  Rule: Every 422 of the list of revisions tells what is wrong, and with which parameter

    Scenario: Every 422 of the list that was seen in this run has the form of a validation error
      Given a list of revisions that was refused as invalid in this run
      When all such answers are looked at
      Then each has the form of a validation error

    Scenario: Two faulty parameters are both named
      Given a deployment that is up
      And a limit and an offset that are each refused by name
      When the client lists its revisions with both of them
      Then the request is refused with 422, naming "limit" and "offset"

  @CP-ERROR-3 @must @section-7 @last
  Rule: The control plane never answers with a server error
    A 503 that says when to come back is obeyed, and counted.

    Scenario: No request of this run was answered with a status of 500 or above by the control plane
      Given a control plane that answered in this run
      When all its answers are looked at
      Then none is a server error
