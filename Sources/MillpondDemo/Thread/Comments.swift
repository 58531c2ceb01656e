/// A comment thread: many comments by few authors, the same in every run.
struct Comments {
  let all: [Comment]

  /// Writes `count` comments, more of them by authors early in the list.
  ///
  /// Every author has a comment if there are at least as many comments as authors. Without authors
  /// there are no comments.
  init(count: Int, authors: [Author] = Author.known(12)) {
    var random = SeededRandom(seed: "comments")
    all = (0..<(authors.isEmpty ? 0 : max(0, count))).map { index in
      // The lower of two draws, so that the first authors of the list write the most.
      let first = random.number(below: authors.count)
      let author = min(first, random.number(below: authors.count))
      return Comment(
        number: index + 1,
        author: authors[index < authors.count ? index : author],
        text: Phrases.sentence(&random))
    }
  }

  /// All authors with a comment, in the order of their first comments.
  var authors: [Author] {
    var seen: Set<Author> = []
    return all.map(\.author).filter { seen.insert($0).inserted }
  }

  /// Returns the number of comments by an author.
  func count(by author: Author) -> Int {
    all.count { $0.author == author }
  }
}
