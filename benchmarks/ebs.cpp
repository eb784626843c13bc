// Exploration-Biased Sampling with D-tracking for a fixed number of arms, under the practical rule, as one
// would write it in C++ for speed alone: the algorithm and the random numbers of truebest, nothing else that
// truebest can do; with UNIFORM defined, uniform sampling. `benchmarks/cpp.py` compiles it, and sees to it that
// it takes the samples that truebest takes.
//
//     ebs RUNS SEED DELTA GAMMA LIMIT MEAN...    prints the samples of all runs together
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

constexpr int K = ARMS;
constexpr double INF = std::numeric_limits<double>::infinity(), TIE = 1e-9;
constexpr uint64_t GOLDEN = 0x9E3779B97F4A7C15u, ALTERNATING = 0xAAAAAAAAAAAAAAAAu;
double ends[257], density[257], tail;

void make_tables() {
    const double area = 0.00492867323399;
    tail = 3.6541528853610088;
    ends[0] = area * std::exp(0.5 * tail * tail);
    ends[1] = tail;
    for (int i = 2; i < 256; i++)
        ends[i] = std::sqrt(-2.0 * std::log(area / ends[i - 1] + std::exp(-0.5 * ends[i - 1] * ends[i - 1])));
    ends[256] = 0.0;
    for (int i = 0; i <= 256; i++) density[i] = std::exp(-0.5 * ends[i] * ends[i]);
}

uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double unit(uint64_t word) { return double(int64_t(word >> 11)) * 0x1p-53; }

struct Stream {
    uint64_t state, gamma;

    void open(uint64_t seed, uint64_t run, uint64_t arm) {
        uint64_t key = mix(mix(mix(seed + GOLDEN) + GOLDEN * (run + 1)) + GOLDEN * (arm + 1)), z = key + GOLDEN;
        state = key;
        z = (z ^ (z >> 33)) * 0xFF51AFD7ED558CCDu;
        z = (z ^ (z >> 33)) * 0xC4CEB9FE1A85EC53u;
        z = (z ^ (z >> 33)) | 1;
        gamma = __builtin_popcountll(z ^ (z >> 1)) < 24 ? z ^ ALTERNATING : z;
    }

    double normal() {
        state += gamma;
        const uint64_t word = mix(state);
        const uint64_t layer = word & 255;
        double x = unit(word) * ends[layer];
        if (__builtin_expect(x >= ends[layer + 1], 0)) x = edge(word, layer, x);
        return word & 256 ? -x : x;
    }

    static __attribute__((noinline)) double edge(uint64_t word, uint64_t layer, double x) {
        while (x >= ends[layer + 1]) {
            if (layer == 0) {
                for (;;) {
                    word = mix(word + GOLDEN);
                    const double far = -std::log(1.0 - unit(word)) / tail;
                    word = mix(word + GOLDEN);
                    if (-2.0 * std::log(1.0 - unit(word)) > far * far) return tail + far;
                }
            }
            const double height = unit(mix(word + GOLDEN)), low = density[layer], high = density[layer + 1];
            if (low + height * (high - low) < std::exp(-0.5 * x * x)) return x;
            word = mix(word ^ ALTERNATING);
            layer = word & 255;
            x = unit(word) * ends[layer];
        }
        return x;
    }
};

struct Box {
    double lower[K], upper[K], weights[K], root = 0.0;

    // The step of Newton's method on (sum q^2)^(-1/2) = 1, of third order near the root.
    static double step(double s2, double s3, double s4) {
        const double slope = 1.0 / (s2 + s3);
        double change = s2 * (std::sqrt(s2) - 1.0) * slope;
        if (std::fabs(change) < 1e-2) change += change * change * 1.5 * slope * (s4 - s3 * s3 / s2);
        return change;
    }

    // Squared gaps of the bandit that has `best` at its upper end; returns the smallest gap.
    double squares(int best, double min_upper, double *x) const {
        double smallest = INF;
        for (int a = 0; a < K; a++) {
            x[a] = upper[best] - std::max(lower[a], min_upper);
            if (a != best) smallest = std::min(smallest, x[a]);
        }
        const double inverse = 1.0 / smallest;
        for (int a = 0; a < K; a++) x[a] = (x[a] * inverse) * (x[a] * inverse);
        x[best] = INF;
        return smallest;
    }

    static double solve(const double *x, int best, double start) {
        if (start < 2.0) {
            double total = 0.0;
            for (int a = 0; a < K; a++) total += a == best ? 0.0 : x[a];
            start = std::max(2.0, (1.0 + std::sqrt(K - 1.0)) * ((K - 1.0) / total));
        }
        double r = start;
        for (int tries = 0; tries < 64; tries++) {
            double s2 = 0.0, s3 = 0.0, s4 = 0.0;
            for (int a = 0; a < K; a++) {
                const double q = 1.0 / (r * x[a] - 1.0), p = q * q;
                s2 += p, s3 += p * q, s4 += p * p;
            }
            const double change = step(s2, s3, s4);
            r = std::max(r + r * change, 2.0);
            if (std::fabs(change) < 1e-5) break;
        }
        return r;
    }

    void weigh() {
#ifdef UNIFORM
        std::fill(weights, weights + K, 1.0 / K);
        return;
#endif
        double max_lower = -INF, min_upper = INF, x[K];
        for (int a = 0; a < K; a++) max_lower = std::max(max_lower, lower[a]);
        for (int a = 0; a < K; a++) min_upper = std::min(min_upper, upper[a]);
        if (min_upper >= max_lower) {
            std::fill(weights, weights + K, 1.0 / K);
            root = 0.0;
            return;
        }
        int best = -1, only = next(max_lower, min_upper, -1);
        double best_root = root, most = -INF;
        if (next(max_lower, min_upper, only) < 0) {
            best = only;
        } else {
            for (int a = only; a >= 0; a = next(max_lower, min_upper, a)) {
                const double smallest = squares(a, min_upper, x), r = solve(x, a, root);
                const double ratio = (upper[a] - min_upper) / smallest;
                double sum = 0.0;
                for (int b = 0; b < K; b++) sum += 1.0 / (r * x[b] - 1.0);
                const double value = -std::log(r * ratio * ratio - 1.0) - std::log1p(sum);
                if (best < 0 || value > most + TIE || (value >= most - TIE && a < best))
                    best = a, best_root = r, most = value;
            }
        }
        squares(best, min_upper, x);
        root = solve(x, best, best_root);
        double sum = 0.0;
        for (int a = 0; a < K; a++) sum += weights[a] = 1.0 / (root * x[a] - 1.0);
        const double w = 1.0 / (1.0 + sum);
        for (int a = 0; a < K; a++) weights[a] *= w;
        weights[best] = w;
    }

    // The candidate after another on the Pareto front: of those with a larger second best the one that goes up most.
    int next(double max_lower, double min_upper, int after) const {
        const double above = after < 0 ? -INF : std::max(lower[after], min_upper) + TIE;
        int found = -1;
        double top = -INF, level = -INF;
        for (int a = 0; a < K; a++) {
            if (upper[a] >= max_lower && upper[a] >= top - TIE) {
                const double c = std::max(lower[a], min_upper);
                if (c > above && (upper[a] > top + TIE || c > level + TIE)) found = a, top = upper[a], level = c;
            }
        }
        return found;
    }
};

int64_t run(uint64_t seed, uint64_t index, const double *mu, double delta, double gamma, int64_t limit) {
    Stream streams[K];
    Box box;
    double pulls[K], sums[K], means[K], bound = std::log(1.0 / delta);
    const double level = std::log(1.0 / delta), width_level = std::log(K / gamma);
    for (int a = 0; a < K; a++) {
        streams[a].open(seed, index, a);
        sums[a] = means[a] = mu[a] + streams[a].normal();
        pulls[a] = 1.0;
    }
    int64_t t = K;
    for (int last = -1;; t++) {
        double top = -INF;
        for (int a = 0; a < K; a++) top = std::max(top, means[a]);
        int leader = 0;
        while (means[leader] < top - TIE) leader++;
        bool may = true;
        for (int a = 0; a < K && may; a++) {
            if (a == leader) continue;
            const double gap = means[leader] - means[a], n = pulls[leader], m = pulls[a];
            may = n * m * gap * gap > 2.0 * (1.0 - 1e-12) * bound * (n + m);
        }
        if (may) {
            double z = INF;
            for (int a = 0; a < K; a++) {
                const double gap = means[leader] - means[a], n = pulls[leader], m = pulls[a];
                if (a != leader) z = std::min(z, 0.5 * (n / (n + m) * m * gap) * gap);
            }
            bound = level + std::log(1.0 + std::log(double(t)));
            if (z > bound) return t;
        }
        if (t >= limit) return t;
        for (int a = last < 0 ? 0 : last; a < (last < 0 ? K : last + 1); a++) {
            const double width = std::sqrt((width_level + std::log(pulls[a])) / pulls[a]);
            box.lower[a] = means[a] - width, box.upper[a] = means[a] + width;
        }
        box.weigh();
        double least = INF;
        for (int a = 0; a < K; a++) least = std::min(least, pulls[a] - t * box.weights[a]);
        last = 0;
        while (pulls[last] - t * box.weights[last] > least + TIE) last++;
        sums[last] += mu[last] + streams[last].normal();
        pulls[last] += 1.0;
        means[last] = sums[last] / pulls[last];
    }
}

int main(int, char **words) {
    make_tables();
    const int64_t runs = std::atoll(words[1]);
    double mu[K];
    for (int a = 0; a < K; a++) mu[a] = std::atof(words[6 + a]);
    int64_t total = 0;
    for (int64_t i = 0; i < runs; i++)
        total += run(std::atoll(words[2]), i, mu, std::atof(words[3]), std::atof(words[4]), std::atoll(words[5]));
    std::printf("%lld\n", (long long)total);
}
