@control-plane @form
Feature: Error answers of the control plane
  Status and body of refused requests, judged on all answers that the suite has received.

  A conforming target may word details freely; add input, ctx and url to validation errors; answer some requests with
  429, or with 503 and Retry-After, which the suite obeys and counts.

  @CP-ERROR-1 @must @section-4 @section-7 @last
  Rule: Every 404 of the list of revisions is a JSON object with a string detail
    Judged on all answers of this kind that the suite has received.

    Scenario: Every 404 of the list of revisions in this run has a string detail
      Given a list of revisions that was answered with 404 in this run
      When all such answers are read
      Then each is JSON with a string "detail"

  @CP-ERROR-2 @must @section-2 @section-4 @section-7 @last
  Rule: Every 422 of the list of revisions is an HTTPValidationError, and names both of two invalid parameters
    The form is judged on all answers of this kind that the suite has received: detail is an array with at least one
    item, and each item has loc (an array of strings and integers), msg (a string) and type (a string).

    Scenario: Every 422 of the list of revisions in this run is an HTTPValidationError
      Given a list of revisions that was answered with 422 in this run
      When all such answers are read
      Then each is an HTTPValidationError

    Scenario: An error about two invalid parameters names both
      Given an existing deployment
      And an invalid limit and an invalid offset that are each refused by name
      When the client lists its revisions with both of them
      Then the request is refused with 422 and an error that names "limit" and "offset"

  @CP-ERROR-3 @must @section-7 @last
  Rule: The control plane never answers with a status of 500 or above
    Judged on all answers that the suite has received. A 503 with Retry-After is not judged: the suite waits, sends the
    request again, and counts the 503.

    Scenario: The control plane answered no request of this run with a status of 500 or above
      Given a control plane that answered in this run
      When all its answers are read
      Then none has a status of 500 or above
