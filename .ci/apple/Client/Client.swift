// An app as users write one: a view, and a model that watches a cache.
import Millpond
import SwiftUI

struct Article: Codable, Sendable, Equatable {
  var title: String
}

@MainActor @Observable final class Reader {
  var title = ""
  private let bag = DisposableBag()

  func follow(_ articles: any Cache<URL, Article>, _ url: URL) {
    bag.insert(
      articles.get(url).subscribeOnMain(onNext: { [weak self] in self?.title = $0.title }))
  }
}

struct ArticleView: View {
  @State var reader = Reader()

  var body: some View { Text(reader.title).task {} }
}

func articles(in folder: URL) -> some Source<URL, Article> {
  let disk = DiskCache(directory: folder, byteLimit: .mebibytes(16))
  return MemoryCache<URL, Article>(countLimit: 100)
    .layered(
      over: disk.mapKeys(\.absoluteString).layered(over: HTTPSource())
        .mapValues(.json(Article.self)))
}

func publisher(
  of articles: some Source<URL, Article>, _ url: URL
) -> AnyPublisher<Article, any Error> {
  articles.get(url).publisher.eraseToAnyPublisher()
}
