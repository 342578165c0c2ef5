@control-plane
Feature: Listing the revisions of a deployment
  A client lists the revisions of a deployment, page by page and filtered by status.

  A conforming target may return 4xx for an offset of 2147483647 or more; return an empty list or 4xx for a status
  that does not exist.

  @CP-LIST-1 @must @section-2 @section-4
  @reads @shares:deployment
  Rule: A list of revisions has an array resources, never null, and an integer offset
    "resources array of Revision yes ... offset integer yes"

    Scenario: The list has an array of resources and an integer offset
      Given an existing deployment
      When the client lists its revisions
      Then the list returns 2xx
      And the list has an array "resources" and an integer "offset"

    Scenario: An empty list has an empty array of resources
      Given an existing deployment
      And an empty list of its revisions
      When the list is read
      Then the list has an array "resources" and an integer "offset"

    @last
    @record
    Scenario: Every valid list of revisions returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "list-revisions" returned 2xx

  @CP-LIST-2 @must @section-4 @section-8
  @reads:revisions=1 @shares:history
  Rule: A limit from 1 to 100 returns that many revisions, or all of them if there are fewer
    "limit is 1 to 100, default 20"
    Judged also on every first page without a filter, of all deployments. Within the key patience after a write, a
    list may lack only the revision of that write.

    Scenario Outline: Limit <value> returns that many revisions, or all of them
      Given a deployment whose revisions are known
      When the client lists its revisions with limit "<value>"
      Then the list returns 2xx
      And it holds as many revisions as the limit allows, or all

      Examples:
        | value |
        | 1     |
        | 2     |
        | 99    |
        | 100   |

    Scenario: A limit in a different spelling counts as the value that it stands for, or returns 4xx
      Given a deployment whose revisions are known
      When the client lists its revisions with limit in each other spelling
      Then each is taken for the value that it stands for, or refused with 4xx

    @last
    @record
    Scenario: No list of revisions in the test run lacks a revision that was known before
      When all exchanges of the test run are read
      Then each list of revisions holds at least those that were known before

  @CP-LIST-3 @must @section-4 @section-7 @section-8 @form
  @reads @shares:deployment
  Rule: A limit that is not an integer from 1 to 100 returns 422 with an error that names limit
    "Invalid request parameters ... 422, HTTPValidationError (detail array of loc, msg, type) ... limit is 1 to 100,
    default 20"

    Scenario Outline: The limit "<value>" returns 422
      Given an existing deployment
      When the client lists its revisions with limit "<value>"
      Then the request is refused with 422 and an error that names "limit"

      Examples: out of range
        | value                |
        | 0                    |
        | 101                  |
        | -1                   |
        | 99999999999999999999 |

      Examples: not an integer
        | value |
        | 1.5   |
        |       |
        | ten   |

    Scenario: Each limit that the contract does not allow returns 422
      Given an existing deployment
      When the client lists its revisions with each invalid limit
      Then each of these requests is refused with 422 and an error that names "limit"

    @situation @writes
    Scenario Outline: With each security scheme limit 101 returns 422 at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then limit 101 is refused with 422 under each security scheme

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the first build has failed                      |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | an invalid update was refused                   |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-LIST-4 @must @section-4 @section-8
  @reads:revisions=21 @shares:history
  Rule: Without limit, a list of more than 20 revisions returns exactly 20, filtered or not
    "limit is 1 to 100, default 20"

    Scenario: Without limit, 20 revisions are returned
      Given a deployment with more than 20 revisions
      When the client lists its revisions
      Then the list returns 2xx
      And it holds exactly 20 revisions

    Scenario: Without limit and with a status filter, 20 revisions are returned
      Given a deployment with more than 20 revisions
      And a status filter that matches all of them
      When the client lists its revisions with that filter
      Then the list returns 2xx
      And it holds exactly 20 revisions

  @CP-LIST-5 @must @section-4 @section-7 @section-8 @form
  @reads @shares:deployment
  Rule: An offset that is negative or not an integer returns 422 with an error that names offset
    "Invalid request parameters ... 422, HTTPValidationError (detail array of loc, msg, type) ... offset is at least 0,
    default 0."

    Scenario Outline: The offset "<value>" returns 422
      Given an existing deployment
      When the client lists its revisions with offset "<value>"
      Then the request is refused with 422 and an error that names "offset"

      Examples:
        | value |
        | -1    |
        | 0.5   |
        |       |
        | ten   |

    Scenario: Each offset that the contract does not allow returns 422
      Given an existing deployment
      When the client lists its revisions with each invalid offset
      Then each of these requests is refused with 422 and an error that names "offset"

    @situation @writes
    Scenario Outline: With each security scheme offset -1 returns 422 at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then offset -1 is refused with 422 under each security scheme

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the first build has failed                      |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | an invalid update was refused                   |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-LIST-6 @must @section-4
  @shares:history
  Rule: With any page size, limit and computed offsets return every revision exactly once
    "Lists all revisions of a deployment. ... limit ... maximum resources returned ... offset ... >= 0; pagination
    offset"
    The pages are compared with the revisions that the suite has created, or with the list of an existing deployment.
    Judged also on every first page without a filter that has room for another revision: if a known revision is in none
    of the lists without a filter, it is missing.

    @reads:revisions=3 @after:CP-LIST-2 @after:CP-LIST-8
    Scenario: An offset in a different spelling counts as the value that it stands for, or returns 4xx
      Given a deployment whose revisions are known
      When the client lists its revisions with offset in each other spelling
      Then each is taken for the value that it stands for, or refused with 4xx

    @after:CP-LIST-2 @after:CP-LIST-8
    Scenario Outline: Pages of <size> return every revision exactly once
      Given a deployment whose revisions are known
      When the client pages through its revisions, <size> at a time, by computed offsets
      Then every revision was returned exactly once

      @reads:revisions=2
      Examples:
        | size |
        | 1    |

      @reads:revisions=3
      Examples:
        | size |
        | 2    |

      @reads:revisions=8
      Examples:
        | size |
        | 7    |

      @reads:revisions=21
      Examples:
        | size |
        | 20   |

      @reads:revisions=51
      Examples:
        | size |
        | 50   |

    @reads:revisions=4 @after:CP-LIST-2 @after:CP-LIST-8
    Scenario: Pages that do not begin at a multiple of their size return every revision exactly once
      Given a deployment whose revisions are known
      When the client pages through its revisions, each page larger than the one before, by computed offsets
      Then every revision was returned exactly once

    @last
    @record
    Scenario: No list in the test run has a revision twice
      When all exchanges of the test run are read
      Then no list has a revision twice

    @last
    @record
    Scenario: Each revision is in at least one list of its deployment in the test run
      When all exchanges of the test run are read
      Then each revision that was known before is in a list of its deployment

    @situation @writes
    Scenario Outline: Computed offsets return every revision once at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then pages by computed offsets return each of its revisions once

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the first build has failed                      |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | an invalid update was refused                   |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-LIST-7 @must @section-2 @after:CP-LIST-10
  @shares:history
  Rule: The returned offset fetches the next page, until every revision was returned once
    "Pagination offset; pass it to later requests to fetch the next page."

    Scenario Outline: Paging by the returned offset, <size> at a time, returns every revision exactly once
      Given a deployment whose revisions are known
      And paging through its revisions by computed offsets works
      When the client pages through its revisions, <size> at a time, by returned offsets
      Then every revision was returned exactly once

      @reads:revisions=2
      Examples:
        | size |
        | 1    |

      @reads:revisions=8
      Examples:
        | size |
        | 7    |

      @reads:revisions=21
      Examples:
        | size |
        | 20   |

    @reads:revisions=21
    Scenario: Paging by the returned offset, without a limit, returns every revision exactly once
      Given a deployment whose revisions are known
      And paging through its revisions by computed offsets works
      When the client pages through its revisions, without a limit, by returned offsets
      Then every revision was returned exactly once

    @reads:settled=2 @reads:revisions=6
    Scenario: Paging through a filtered list by the returned offset returns exactly the filtered revisions
      Given a deployment whose revisions have settled in different statuses
      And paging through its revisions by computed offsets works
      When the client pages through each filtered list, 5 at a time, by returned offsets
      Then the pages hold exactly the filtered revisions

    @situation @writes @after:CP-LIST-6
    Scenario Outline: Returned offsets return every revision once at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then pages by returned offsets return each of its revisions once

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the first build has failed                      |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | an invalid update was refused                   |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-LIST-20 @should @section-2
  @shares:history
  Rule: The page at the offset that the last page returned repeats no revision
    "Pagination offset; pass it to later requests to fetch the next page."
    The interface does not define the offset of the last page. A client that pages until a page is empty must not
    receive a revision again. An empty page, a 4xx, and an offset that is not an integer of at least 0 pass.

    Scenario Outline: With pages of <size>, paging past the last page by its returned offset repeats no revision
      Given a deployment whose revisions are known
      And paging through its revisions by computed offsets works
      When the client pages through its revisions, <size> at a time, by returned offsets
      And the client lists on from the offset of the last page, <size> at a time
      Then no revision was returned again

      @reads:revisions=2
      Examples:
        | size |
        | 1    |

      @reads:revisions=8
      Examples:
        | size |
        | 7    |

      @reads:revisions=21
      Examples:
        | size |
        | 100  |

  @CP-LIST-8 @must @section-4 @section-8 @form
  Rule: An offset at or past the end of the list returns 200 and no revisions
    "offset is at least 0, default 0."
    An offset of 2147483647 or more may also return 4xx. The offset in an empty page is not judged.

    @reads:revisions=1 @shares:history
    Scenario Outline: The list from <place> is empty
      Given a deployment whose revisions are known
      When the client lists its revisions from <place>
      Then the list returns 2xx
      And it holds no revision

      Examples:
        | place            |
        | the end          |
        | one past the end |
        | far past the end |

    @reads @shares:deployment
    Scenario: Offset 2147483646, which every server must accept, returns an empty list
      Given an existing deployment
      When the client lists its revisions with offset "2147483646"
      Then the list returns 2xx
      And it holds no revision

    @reads @shares:deployment
    Scenario Outline: The offset <value> returns an empty list or 4xx
      Given an existing deployment
      When the client lists its revisions with offset "<value>"
      Then the list is empty, or the request is refused with 4xx

      Examples: around the limits of 32-bit and 64-bit integers, and beyond
        | value                   |
        | 2147483647              |
        | 2147483648              |
        | 4294967296              |
        | 9223372036854775807     |
        | 9223372036854775808     |
        | 18446744073709551616    |
        | 99999999999999999999999 |

  @CP-LIST-9 @must @section-4
  @reads:settled=1 @shares:history
  Rule: Filtering by any of the 13 statuses returns exactly the revisions with that status
    "Comma-separated list of revision status values to filter by"
    The lists are compared with the status that GET of each revision shows. A status that no revision has must return
    an empty list.

    Scenario: Filtering by a status that occurs returns exactly the revisions with that status
      Given a deployment whose revisions have settled
      When the client filters its revisions by each status that occurs
      Then each list holds exactly the revisions with that status

    Scenario: Filtering by a status that does not occur returns an empty list
      Given a deployment whose revisions have settled
      When the client filters its revisions by each known status that does not occur
      Then each list holds exactly the revisions with that status

    @situation @writes @after:CP-LIST-6 @after:CP-UPDATE-10
    Scenario Outline: Filtering by one status returns exactly its revisions at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then each status filter returns exactly the revisions with that status

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the first build has failed                      |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | an invalid update was refused                   |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-LIST-10 @must @section-4 @after:CP-LIST-9
  @shares:history
  Rule: Several comma-separated statuses return their union, and filters apply before paging
    "Comma-separated list of revision status values to filter by"
    A limit is the maximum of what is returned, so it counts only revisions that match the filter.

    @reads:settled=1
    Scenario: Filtering by two statuses returns the revisions with either of them
      Given a deployment whose revisions have settled
      When the client filters its revisions by pairs of statuses
      Then each list is the union of the lists of its statuses

    @reads:settled=1
    Scenario: Filtering by three statuses, and by one status twice, returns each matching revision once
      Given a deployment whose revisions have settled
      When the client filters its revisions by three statuses, and by one that is named twice
      Then each list is the union of the lists of its statuses

    @reads:settled=2 @reads:revisions=6
    Scenario: The pages of a filtered list return exactly the filtered revisions
      Given a deployment whose revisions have settled in different statuses
      And paging through its revisions by computed offsets works
      When the client pages through each filtered list, 5 at a time, by computed offsets
      Then the pages hold exactly the filtered revisions

    @situation @writes @after:CP-LIST-6
    Scenario Outline: Filtering by all statuses returns every revision once at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then a filter with all thirteen statuses returns each of its revisions once

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the first build has failed                      |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | an invalid update was refused                   |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-LIST-11 @should @section-4 @form
  @reads @shares:deployment
  Rule: Filtering by a status that does not exist returns an empty list or 4xx
    "Comma-separated list of revision status values to filter by"
    No revision has such a status, so a list that shows one ignores the filter.

    Scenario Outline: The status filter "<value>" returns an empty list or 4xx
      Given a DEPLOYED deployment
      When the client filters its revisions by status "<value>"
      Then the list is empty, or the request is refused with 4xx

      Examples:
        | value        |
        | NO_SUCH      |
        | deployed-ish |
        | %            |
        | DEPLOYE_     |
        | .*           |

    Scenario Outline: The status filter "<value>" does not return revisions with a status that it does not name
      Given a DEPLOYED deployment
      When the client filters its revisions by status "<value>"
      Then the list is empty, or the request is refused with 4xx

      Examples:
        | value                       |
        | BUILD_FAILED,NO_SUCH        |
        | BUILD_FAILED,               |
        | BUILD_FAILED, CREATE_FAILED |

    Scenario Outline: A status filter that <what> a NUL character returns an empty list or 4xx
      Given a DEPLOYED deployment
      When the client filters its revisions by status "<value>"
      Then the list is empty, or the request is refused with 4xx

      Examples:
        | what    | value        |
        | is      | \x00         |
        | ends in | DEPLOYED\x00 |

  @CP-LIST-12 @must @section-4 @section-7 @form
  @reads @shares:deployment
  Rule: remote_reconciled accepts true and false; non-booleans return 422 with an error naming it
    "remote_reconciled ... boolean or null ... Invalid request parameters ... 422, HTTPValidationError (detail array of
    loc, msg, type)"
    The values maybe, 2 and tru are sent as non-booleans. Which revisions the filter returns is not judged.

    Scenario Outline: The filter remote_reconciled accepts "<value>"
      Given an existing deployment
      When the client filters its revisions by remote_reconciled "<value>"
      Then the list returns 2xx

      Examples:
        | value |
        | true  |
        | false |

    Scenario Outline: The filter remote_reconciled returns 422 for "<value>"
      Given an existing deployment
      When the client filters its revisions by remote_reconciled "<value>"
      Then the request is refused with 422 and an error that names "remote_reconciled"

      Examples:
        | value |
        | maybe |
        | 2     |
        | tru   |

    @reads:settled=1 @shares:history
    Scenario: A boolean in a different spelling counts as the value that it stands for, or returns 4xx
      Given a deployment whose revisions have settled
      When the client lists its revisions with remote_reconciled in each other spelling
      Then each is taken for the value that it stands for, or refused with 4xx

  @CP-LIST-17 @must @section-4
  @reads:settled=1 @shares:history
  Rule: Lists with remote_reconciled true and with false share no revision with a final status
    "remote_reconciled ... boolean or null ... Filters by remote-reconciled revisions"
    Settled revisions are those whose status no longer changes. Which revisions each value returns is not judged: a
    revision may be in neither list.

    Scenario: The lists with remote_reconciled true and with false share no revision with a final status
      Given a deployment whose revisions have settled
      When the client lists all its revisions with remote_reconciled true, with false, and with true again
      Then no revision is in the list with false and in both lists with true

  @CP-LIST-13 @must @section-4 @section-7 @form
  Rule: Listing an unknown deployment's revisions returns 404 with a detail that contains its id
    "List Revisions with unknown deployment ... 404, body {detail: <message naming the deployment id as not found>}"
    CP-ERROR-1 judges that the detail is a string.

    Scenario: The list of an unknown deployment returns 404
      When the client lists the revisions of an unknown deployment
      Then the request returns 404 and a detail that contains the deployment id

    @after:CP-LIST-12
    Scenario: The list of an unknown deployment returns 404 whatever parameter is sent
      When the client lists the revisions of an unknown deployment with each parameter
      Then each of these lists returns 404 and a detail that contains its id

    @reads @shares:deployment
    Scenario: The list of a slightly different deployment id, or of a revision id, returns 404
      Given an existing deployment
      When the client lists the revisions of each id that is almost that of the deployment
      Then each of these lists returns 404 and a detail that contains its id

    Scenario: The list of the nil UUID returns 4xx
      When the client lists the revisions of the deployment with the id "00000000-0000-0000-0000-000000000000"
      Then the request is refused with 4xx

    @reads:revisions=1 @shares:history
    Scenario Outline: The list of an id <spelling> contains the revisions of the deployment, or returns 4xx
      Given a deployment whose revisions are known
      When the client lists its revisions by its id <spelling>
      Then the list holds its revisions, or the request is refused with 4xx

      Examples:
        | spelling           |
        | in capital letters |
        | in braces          |
        | without dashes     |
        | after urn:uuid:    |

  @CP-LIST-14 @must @section-4 @section-7 @form
  Rule: Listing revisions of an invalid UUID returns 422 with an error that names deployment_id
    "deployment_id ... string, uuid ... Invalid request parameters ... 422, HTTPValidationError (detail array of loc,
    msg, type)"

    Scenario Outline: The list of the deployment "<id>" returns 422
      When the client lists the revisions of the deployment with the id "<id>"
      Then the request is refused with 422 and an error that names "deployment_id"

      Examples:
        | id                                   |
        | not-a-uuid                           |
        | 12345                                |
        | 1-1-1-1-1                            |
        | 00000000-0000-0000-0000-00000000000g |

  @CP-LIST-15 @should @section-4
  @needs:create.body @reads:revisions=21 @shares:history
  Rule: Every list of revisions is ordered from newest to oldest
    The interface does not define an order. Clients rely on this one, hence the level.

    Scenario: The newest revision comes first in every list
      Given a deployment with more than 20 revisions
      When the client lists all its revisions twice
      Then both times the revisions are ordered from the newest to the oldest

  @CP-LIST-16 @should @section-2
  @reads:revisions=1 @shares:history
  Rule: Every revision in the list has the source of its deployment
    "source ... Cannot be changed after the deployment is created."
    Revisions are builds of one deployment, so its source is theirs.

    Scenario: Every revision in the list has the source of the deployment
      Given a deployment whose revisions are known
      When the client lists all its revisions twice
      Then each revision has the "source" of the deployment

    @situation @writes
    Scenario Outline: Each revision in the list has the source of a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then each revision in its list has its source

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the first build has failed                      |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | an invalid update was refused                   |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-LIST-18 @must @section-4 @section-8
  @after:CP-LIST-2 @after:CP-LIST-4 @after:CP-LIST-8 @after:CP-LIST-9 @after:CP-LIST-10
  @after:CP-LIST-12
  @reads:settled=1 @shares:history
  Rule: limit, offset and filters can be combined
    "limit ... maximum resources returned ... offset ... pagination offset ... status ... Comma-separated list of
    revision status values to filter by"
    A page is the part of the filtered list that limit and offset select. The values are derived from the contract:
    the bounds and the default of limit and their neighbors, an explicit offset of 0, offsets up to the end of the
    list. Each value of a parameter is combined at least once with each value of the others, and with their absence.
    The parameters are sent in both orders. If a value also fails on its own, that belongs to the requirement about it.
    The order of a page is not judged.

    Scenario Outline: Each page of the list with <filter> has the revisions that limit and offset select
      Given a deployment whose revisions have settled
      When the client lists its revisions with <filter>, combined with each limit and each offset
      Then each page has the revisions that its limit and offset select

      Examples:
        | filter                                              |
        | no filter                                           |
        | remote_reconciled true                              |
        | remote_reconciled false                             |
        | a status that occurs                                |
        | a status that does not occur                        |
        | all statuses                                        |
        | a status that occurs and remote_reconciled true     |
        | a status that occurs and remote_reconciled false    |
        | all statuses and remote_reconciled true             |
        | all statuses and remote_reconciled false            |

    Scenario: A parameter that the interface does not name changes nothing, or returns 4xx
      Given a deployment whose revisions have settled
      When the client lists its revisions with a parameter that the interface does not name, alone and with limit and offset
      Then each list is the one without the parameter, or refused with 4xx

    Scenario: A list with remote_reconciled and a status contains the revisions that match both
      Given a deployment whose revisions have settled
      When the client lists its revisions with each value of remote_reconciled, alone and combined with each status that occurs
      Then each list holds the revisions that both filters keep

  @CP-LIST-19 @must @section-4 @section-7 @section-8 @form
  @reads @shares:deployment
  Rule: An invalid parameter returns 422 and is named in the error, even if the others are valid
    "Invalid request parameters ... 422, HTTPValidationError (detail array of loc, msg, type)"
    The values are derived from the contract. They are the same as those that are sent on their own.

    Scenario Outline: An invalid <parameter> combined with valid parameters returns 422
      Given an existing deployment
      When the client lists its revisions with each invalid <parameter>, combined with valid values of the other parameters
      Then each of these requests is refused with 422 and an error that names "<parameter>"

      @after:CP-LIST-3
      Examples: limit
        | parameter |
        | limit     |

      @after:CP-LIST-5
      Examples: offset
        | parameter |
        | offset    |

      @after:CP-LIST-12
      Examples: remote_reconciled
        | parameter         |
        | remote_reconciled |
