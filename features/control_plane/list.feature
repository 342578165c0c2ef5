@control-plane
Feature: Listing the revisions of a deployment
  A client pages through everything that was ever built for a deployment. (interface, sections 2, 4 and 8)

  @CP-LIST-1 @must @section-2
  Rule: The list is an object with the revisions and an offset

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

  @CP-LIST-2 @must @section-8
  Rule: A limit from 1 to 100 is honoured

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

  @CP-LIST-3 @must @section-7 @section-8
  Rule: A limit outside 1 to 100 is refused, and the refusal names it

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
  Rule: Without a limit 20 revisions come back where there are more

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

  @CP-LIST-5 @must @section-7 @section-8
  Rule: An offset below 0 is refused, and the refusal names it

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
  Rule: Pages by offset hold every revision exactly once

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
  Rule: The returned offset fetches the next page

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
  Rule: An offset at or past the end answers with an empty page

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
  Rule: A status filter keeps exactly the revisions with that status

    Scenario: Filtering by each status that occurs keeps exactly its revisions
      Given a deployment whose revisions have settled
      When the client filters its revisions by each status that occurs
      Then each list holds exactly the revisions with that status

    Scenario: Filtering by a status that does not occur keeps nothing
      Given a deployment whose revisions have settled
      When the client filters its revisions by each known status that does not occur
      Then each list holds exactly the revisions with that status

  @CP-LIST-10 @must @section-4
  Rule: Several statuses are a union, and the filter comes before paging

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
  Rule: A status that does not exist keeps nothing, or is refused

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
  Rule: The filter remote_reconciled is a boolean

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
  Rule: The revisions of an unknown deployment are not found, and the answer names its id

    Scenario: The list of an unknown deployment is not found
      When the client lists the revisions of an unknown deployment
      Then the answer is not found, naming the deployment

  @CP-LIST-14 @must @section-4 @section-7
  Rule: A deployment id that is no uuid is refused, and the refusal names it

    Scenario Outline: The list of the deployment "<id>" is refused
      When the client lists the revisions of the deployment with the id "<id>"
      Then the request is refused with 422, naming "deployment_id"

      Examples:
        | id                                    |
        | not-a-uuid                            |
        | 12345                                 |
        | 00000000-0000-0000-0000-00000000000g  |

  @CP-LIST-15 @should @section-4
  Rule: The order is stable, newest first

    Scenario: The newest revision comes first, at every read
      Given a deployment with more than 20 revisions
      When the client lists all its revisions twice
      Then both times the revisions are ordered from the newest to the oldest

  @CP-LIST-16 @should @section-2
  Rule: All revisions of a deployment have its source

    Scenario: Every revision in the list has the deployment's source
      Given a deployment with more than 20 revisions
      When the client lists all its revisions twice
      Then each has the source of the deployment
