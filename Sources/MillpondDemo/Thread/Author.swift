/// An author of comments in a thread, whose picture all of them show.
struct Author: Hashable, Sendable {
  let name: String

  /// The number of comments.
  let count: Int

  /// The pixels of a side of the picture.
  private let side: Int

  /// The path of the picture at the origin.
  var path: String { "/avatars/\(name.lowercased().replacing(" ", with: "-")).bmp" }

  /// The picture: as many bytes as a bitmap has, for which a slow line takes a while.
  var picture: [UInt8] { Array(repeating: 7, count: 54 + 4 * side * side) }

  /// Returns the authors of so many comments, the same in every run; everyone has one if there are
  /// enough.
  static func writing(_ comments: Int) -> [Author] {
    let shares = known.prefix(comments).map { max(1, $0.share * comments / 120) }
    let rest = comments - shares.reduce(0, +)
    return zip(known, shares).enumerated().map { place, author in
      let (known, share) = author
      return Author(
        name: known.name, count: place == 0 ? max(1, share + rest) : share, side: known.side)
    }
  }

  /// The authors, with their shares of 120 comments.
  private static let known: [(name: String, share: Int, side: Int)] = [
    ("Ada Holm", 13, 108), ("Bruno Castell", 19, 132), ("Chiyo Mori", 16, 132),
    ("Dara Quinn", 13, 108), ("Emil Novak", 15, 132), ("Farah Aziz", 14, 108),
    ("Greta Lind", 7, 108), ("Hugo Marchand", 6, 132), ("Ines Duarte", 8, 132),
    ("Jonas Weber", 3, 120), ("Kavya Rao", 5, 96), ("Liam Byrne", 1, 108),
  ]
}
