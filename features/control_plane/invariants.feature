@control-plane
Feature: What is true of every answer of the control plane
  Judged on all exchanges of a run, without requests of their own. Where a requirement that tells the same has failed, the
  rule here is blocked by it. A status of 500 or above is judged by the requirements about server errors.

  A conforming target may spell a UUID in upper or lower case.

  @CP-INVARIANT-1 @must @section-2 @section-4 @last
  Rule: Every answer about a deployment or a revision has the id that the request asked for
    Judged on GET and PATCH of a deployment and on GET of a revision, where the answer has a UUID as id.

    Scenario: No answer of the control plane has another id than its request
      Given a control plane that answered in this run
      When all exchanges of this run are read
      Then each answer of the control plane has the id of its request

  @CP-INVARIANT-2 @must @section-5 @last @security
  Rule: No request to the control plane without credentials or with an unknown API key is answered with 2xx
    Judged on the operations of the interface.

    Scenario: No request without valid credentials was served by the control plane
      Given a control plane that answered in this run
      When all exchanges of this run are read
      Then no control-plane request without valid credentials was answered with 2xx
