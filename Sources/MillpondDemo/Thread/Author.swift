/// An author of comments.
struct Author: Hashable {
  let name: String

  /// The name in lower-case letters, digits and hyphens, for URL paths and file names.
  var identifier: String {
    let words = name.lowercased().split { character in
      !character.isASCII || !(character.isLetter || character.isNumber)
    }
    return words.joined(separator: "-")
  }

  /// Returns the first `count` of two dozen made-up authors.
  static func known(_ count: Int) -> [Author] {
    names.prefix(max(1, count)).map(Author.init)
  }

  private static let names = [
    "Ada Holm", "Bruno Castell", "Chiyo Mori", "Dara Quinn", "Emil Novak", "Farah Aziz",
    "Greta Lind", "Hugo Marchand", "Ines Duarte", "Jonas Weber", "Kavya Rao", "Liam Byrne",
    "Maja Kowal", "Nils Aker", "Oona Salo", "Pablo Rey", "Quentin Shaw", "Rosa Neri",
    "Sami Haddad", "Tilde Berg", "Umar Diallo", "Vera Popova", "Wen Zhao", "Yael Stern",
  ]
}
