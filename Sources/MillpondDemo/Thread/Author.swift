/// An author of comments in a thread, whose picture all of them show.
struct Author: Hashable, Sendable {
  let name: String

  /// The number of comments.
  let count: Int

  /// The path of the picture at the origin.
  var path: String { "/avatars/\(name.lowercased().replacing(" ", with: "-")).bmp" }

  /// The picture: as many bytes as a small one has, and a slow line takes a while for.
  var picture: [UInt8] {
    Array(repeating: 7, count: 37_000 + name.utf8.reduce(0) { $0 * 3 + Int($1) } % 33_000)
  }

  /// Returns the authors of so many comments, the same in every run: the first ones of the list
  /// write the most, and everyone has a comment if there are enough.
  static func writing(_ comments: Int) -> [Author] {
    var counts = names.map { _ in 0 }
    for index in 0..<comments {
      // Draws without repetition among 144 tickets, of which the last author has one, the one
      // before three, and so on.
      let ticket = index * 89 % (names.count * names.count)
      let drawn = names.indices.first { (names.count - $0 - 1) * (names.count - $0 - 1) <= ticket }
      counts[index < names.count ? index : drawn ?? 0] += 1
    }
    return zip(names, counts).map(Author.init).filter { $0.count > 0 }
  }

  private static let names = [
    "Ada Holm", "Bruno Castell", "Chiyo Mori", "Dara Quinn", "Emil Novak", "Farah Aziz",
    "Greta Lind", "Hugo Marchand", "Ines Duarte", "Jonas Weber", "Kavya Rao", "Liam Byrne",
  ]
}
