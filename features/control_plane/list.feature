@control-plane
Feature: Listing the revisions of a deployment
  A client lists the revisions of a deployment, page by page and filtered by status.

  A conforming target may refuse an offset of 2147483647 or more with a 4xx; answer a status that does not exist with
  an empty list or with a 4xx.

  @CP-LIST-1 @must @section-2 @section-4
  Rule: The list of revisions is an object whose resources is an array, never null, and whose offset is an integer

    Scenario: The list of a deployment has resources and an offset
      Given a deployment that is up
      When the client lists its revisions
      Then the list is served
      And the list has an array of resources and a whole number as offset

    Scenario: A list with nothing in it is an empty array
      Given a deployment that is up
      And a list of its revisions with nothing in it
      When the list is looked at
      Then the list has an array of resources and a whole number as offset

  @CP-LIST-2 @must @section-4 @section-8
  Rule: A limit from 1 to 100 is accepted and returns that many revisions, or all where there are fewer

    Scenario Outline: With limit <value> no more than that come back
      Given a deployment with more than 20 revisions
      When the client lists its revisions with limit "<value>"
      Then the list is served
      And it holds as many revisions as the limit and the history allow

      Examples:
        | value |
        | 1     |
        | 2     |
        | 99    |
        | 100   |

  @CP-LIST-3 @must @section-4 @section-7 @section-8
  Rule: A limit outside 1 to 100, or one that is not an integer, is refused with 422 and an error that names limit

    Scenario Outline: The limit "<value>" is refused
      Given a deployment that is up
      When the client lists its revisions with limit "<value>"
      Then the request is refused with 422, naming "limit"

      Examples: beyond the bounds
        | value                |
        | 0                    |
        | 101                  |
        | -1                   |
        | 99999999999999999999 |

      Examples: no whole number
        | value |
        | 1.5   |
        |       |
        | ten   |

  @CP-LIST-4 @must @section-4 @section-8
  Rule: Without limit, exactly 20 revisions are returned where there are more, with and without a status filter

    Scenario: The default limit is 20
      Given a deployment with more than 20 revisions
      When the client lists its revisions
      Then the list is served
      And it holds exactly 20 revisions

    Scenario: The default limit holds beside a status filter too
      Given a deployment with more than 20 revisions
      And a status filter that keeps them all
      When the client lists its revisions with that filter
      Then the list is served
      And it holds exactly 20 revisions

  @CP-LIST-5 @must @section-4 @section-7 @section-8
  Rule: An offset that is negative or not an integer is refused with 422 and an error that names offset

    Scenario Outline: The offset "<value>" is refused
      Given a deployment that is up
      When the client lists its revisions with offset "<value>"
      Then the request is refused with 422, naming "offset"

      Examples:
        | value |
        | -1    |
        | 0.5   |
        |       |
        | ten   |

  @CP-LIST-6 @must @section-4
  Rule: Paging by limit and computed offsets returns every revision exactly once, whatever the page size
    Compared with the revisions that the suite itself has created.

    Scenario Outline: Pages of <size> hold every revision exactly once
      Given a deployment with more than 20 revisions
      When the client pages through its revisions, <size> at a time, by offsets of its own
      Then every revision was seen exactly once

      Examples:
        | size |
        | 1    |
        | 2    |
        | 7    |
        | 20   |
        | 50   |

    Scenario: Pages that do not begin at a multiple of their size hold every revision exactly once
      Given a deployment with more than 20 revisions
      When the client pages through its revisions, each page larger than the one before, by offsets of its own
      Then every revision was seen exactly once

  @CP-LIST-7 @must @section-2
  Rule: Passing the returned offset to the next request fetches the next page, until every revision was returned once

    Scenario Outline: Following the returned offset, <size> at a time, sees every revision
      Given a deployment with more than 20 revisions
      And its revisions can be paged through by offsets
      When the client pages through its revisions, <size> at a time, by the returned offsets
      Then every revision was seen exactly once

      Examples:
        | size |
        | 1    |
        | 7    |
        | 20   |

  @CP-LIST-8 @must @section-4 @section-8
  Rule: An offset at or past the end of the list is answered with 200 and no revisions
    An offset of 2147483647 or more may also be refused with a 4xx.

    Scenario Outline: The page <place> is empty
      Given a deployment with more than 20 revisions
      When the client lists its revisions from <place>
      Then the list is served
      And it is empty

      Examples:
        | place              |
        | the end            |
        | one past the end   |
        | far past the end   |

    Scenario Outline: The offset <value> is past any end, or refused
      Given a deployment that is up
      When the client lists its revisions with offset "<value>"
      Then the list is empty, or the request is refused

      Examples: around what fits into 32 and 64 bits
        | value               |
        | 2147483647          |
        | 2147483648          |
        | 4294967296          |
        | 9223372036854775807 |
        | 9223372036854775808 |

  @CP-LIST-9 @must @section-4
  Rule: Filtering by one status returns exactly the revisions with this status, for each of the thirteen statuses
    Compared with the statuses that the revisions show when they are retrieved one by one. A status that no revision
    has must return an empty list.

    Scenario: Filtering by each status that occurs keeps exactly its revisions
      Given a deployment whose revisions have settled
      When the client filters its revisions by each status that occurs
      Then each list holds exactly the revisions with that status

    Scenario: Filtering by a status that does not occur keeps nothing
      Given a deployment whose revisions have settled
      When the client filters its revisions by each known status that does not occur
      Then each list holds exactly the revisions with that status

  @CP-LIST-10 @must @section-4
  Rule: Filtering by several comma-separated statuses returns their union, and filters apply before paging

    Scenario: Several statuses keep the revisions with any of them
      Given a deployment whose revisions have settled
      When the client filters its revisions by pairs of statuses
      Then each list holds exactly what the lists of the two statuses hold

    Scenario: The pages of a filtered list hold the filtered revisions only
      Given a deployment whose revisions have settled in different statuses
      And its revisions can be paged through by offsets
      When the client pages through each filtered list, five at a time
      Then the pages hold exactly the filtered revisions

  @CP-LIST-11 @should @section-4
  Rule: Filtering by a status that does not exist returns an empty list or is refused with a 4xx

    Scenario Outline: The status filter "<value>" does not keep everything
      Given a deployment that is up
      When the client filters its revisions by status "<value>"
      Then the list is empty, or the request is refused

      Examples:
        | value        |
        | NO_SUCH      |
        | deployed-ish |

    Scenario Outline: The filter by a status that <what> a NUL character does not keep everything
      Given a deployment that is up
      When the client filters its revisions by a status that <what> a NUL character
      Then the list is empty, or the request is refused

      Examples:
        | what    |
        | is      |
        | ends in |

  @CP-LIST-12 @must @section-4 @section-7
  Rule: The parameter remote_reconciled accepts true and false; a non-boolean is refused with 422 and an error that names it
    Non-booleans are maybe, 2 and tru. Which revisions the filter returns is not judged.

    Scenario Outline: The filter remote_reconciled takes "<value>"
      Given a deployment that is up
      When the client filters its revisions by remote_reconciled "<value>"
      Then the list is served

      Examples:
        | value |
        | true  |
        | false |

    Scenario Outline: The filter remote_reconciled refuses "<value>", and the refusal names it
      Given a deployment that is up
      When the client filters its revisions by remote_reconciled "<value>"
      Then the request is refused with 422, naming "remote_reconciled"

      Examples:
        | value |
        | maybe |
        | 2     |
        | tru   |

  @CP-LIST-13 @must @section-4 @section-7
  Rule: Listing the revisions of an unknown deployment is answered with 404 and a detail that contains the deployment id
    That the detail is a string is judged by CP-ERROR-1.

    Scenario: The list of an unknown deployment is not found
      When the client lists the revisions of an unknown deployment
      Then the answer is not found, naming the deployment

  @CP-LIST-14 @must @section-4 @section-7
  Rule: Listing revisions with a deployment id that is not a valid UUID is refused with 422 and an error that names deployment_id

    Scenario Outline: The list of the deployment "<id>" is refused
      When the client lists the revisions of the deployment with the id "<id>"
      Then the request is refused with 422, naming "deployment_id"

      Examples:
        | id                                    |
        | not-a-uuid                            |
        | 12345                                 |
        | 00000000-0000-0000-0000-00000000000g  |

  @CP-LIST-15 @should @section-4
  Rule: The list of revisions is ordered from the newest to the oldest at every read
    The interface states no order. Clients rely on this one, hence the level.

    Scenario: The newest revision comes first, at every read
      Given a deployment with more than 20 revisions
      When the client lists all its revisions twice
      Then both times the revisions are ordered from the newest to the oldest

  @CP-LIST-16 @should @section-2
  Rule: Every revision in the list of a deployment has the source of the deployment

    Scenario: Every revision in the list has the deployment's source
      Given a deployment with more than 20 revisions
      When the client lists all its revisions twice
      Then each has the source of the deployment
