@control-plane
Feature: What the control plane says when it refuses
  How the control plane refuses a request, judged on all answers that the suite has seen.

  A conforming target may word details freely; add input, ctx and url to validation errors; answer some requests with
  429, or with 503 and Retry-After, which the suite obeys and counts.

  @CP-ERROR-1 @must @section-4 @section-7 @last
  Rule: Every 404 of the list of revisions is a JSON object with a string detail
    Judged on all answers of this kind that the suite has seen.

    Scenario: Every 404 of the list that was seen in this run has a detail
      Given a list of revisions that was not found in this run
      When all such answers are looked at
      Then each is JSON with a text as detail

  @CP-ERROR-2 @must @section-2 @section-4 @section-7 @last
  Rule: Every 422 of the list of revisions is an HTTPValidationError, and names both of two invalid parameters
    The form is judged on all answers of this kind that the suite has seen: detail is an array with at least one item,
    and each item has loc (an array of strings and integers), msg (a string) and type (a string).

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
  Rule: The control plane never answers with a status of 500 or above
    Judged on all answers that the suite has seen. A 503 with Retry-After is not judged: the suite waits, sends the
    request again, and counts the 503.

    Scenario: No request of this run was answered with a status of 500 or above by the control plane
      Given a control plane that answered in this run
      When all its answers are looked at
      Then none is a server error
