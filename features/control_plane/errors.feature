@control-plane @form
Feature: Error answers of the control plane
  Status and body of refused requests, judged on all answers that the suite has received.

  A conforming target may word details freely; add input, ctx and url to validation errors; answer some requests with
  429, or with 503 and Retry-After, which the suite obeys and counts.

  @CP-ERROR-1 @must @section-4 @section-7 @last
  @record
  Rule: Every 404 of the list of revisions is a JSON object with a string detail
    "404 ... JSON object with detail string saying that the deployment id was not found"
    Judged on all answers of this kind that the suite has received.

    Scenario: Every 404 of the list of revisions in this run has a string detail
      Given a list of revisions that was answered with 404 in this run
      When all such answers are read
      Then each is JSON with a string "detail"

  @CP-ERROR-2 @must @section-2 @section-4 @section-7 @last
  Rule: Every 422 of the list of revisions is an HTTPValidationError, and names both of two invalid parameters
    "Invalid request parameters ... 422, HTTPValidationError (detail array of loc, msg, type)"
    The form is judged on all answers of this kind that the suite has received: detail is an array with at least one
    item, and each item has loc (an array of strings and integers), msg (a string) and type (a string). The interface
    makes detail optional: an object without it is the concern of CP-ERROR-5.

    @record
    Scenario: Every 422 of the list of revisions in this run is an HTTPValidationError
      Given a list of revisions that was answered with 422 in this run
      When all such answers are read
      Then each is an HTTPValidationError

    @reads @shares:deployment
    Scenario: An error about two invalid parameters names both
      Given an existing deployment
      And an invalid limit and an invalid offset that are each refused by name
      When the client lists its revisions with both of them
      Then the request is refused with 422 and an error that names "limit" and "offset"

  @CP-ERROR-5 @should @section-2 @section-7 @last
  @record
  Rule: Every 422 of the list of revisions has a detail
    "detail ... array of ValidationError ... optional"
    Without it a client cannot tell which parameter is invalid. Judged on all answers of this kind that the suite has
    received.

    Scenario: Every 422 of the list of revisions in this run has a detail
      Given a list of revisions that was answered with 422 in this run
      When all such answers are read
      Then each has a "detail"

  @CP-ERROR-3 @must @section-4 @section-7 @last
  @anonymous @record
  Rule: The control plane answers no request that keeps the contract or has an invalid parameter with a status of 500 or above
    "Create a deployment; the response contains id and latest_revision_id. ... Retrieve a deployment. ... Invalid
    request parameters ... 422, HTTPValidationError"
    Judged on all answers that the suite has received. The interface shows how a request that keeps the contract is
    answered, and that an invalid parameter in path or query is refused with 422. A 503 with Retry-After is not judged:
    the suite waits, sends the request again, and counts the 503.

    Scenario: The control plane answered no valid request and no invalid parameter of this run with a status of 500 or above
      Given a control plane that answered in this run
      When all its answers to requests that keep the contract or have an invalid parameter are read
      Then none has a status of 500 or above

  @CP-ERROR-4 @should @section-4 @section-7 @last
  @anonymous @writes @record
  Rule: The control plane answers no request with an invalid body with a status of 500 or above
    Judged on all answers that the suite has received: a body that is not valid JSON, or does not match the contract. So
    are operations beyond the interface. The interface does not say how such requests are answered.

    Scenario: The control plane answered no request with an invalid body in this run with a status of 500 or above
      Given a control plane that answered in this run
      When all its answers to requests that break the contract in another way are read
      Then none has a status of 500 or above
