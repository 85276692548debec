/*
 * Asks the kernel for known amounts. `planted FILE`, where FILE has 16 MiB that are not in the page cache: writes a byte
 * when it is ready, works when one comes on standard input, writes another when it is done, and ends with its input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define CHECK(what)          \
	do {                 \
		if (!(what)) \
			exit(2); \
	} while (0)

static char buffer[1 << 20];

static void wait_for_a_byte(void)
{
	char byte;

	if (read(0, &byte, 1) != 1)
		exit(0);
}

/* Two ends of a TCP connection. */
static int connected(int *other)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), own = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(!bind(listening, (void *)&address, size) && !listen(listening, 1));
	CHECK(!getsockname(listening, (void *)&address, &size) && !connect(own, (void *)&address, size));
	*other = accept(listening, NULL, NULL);
	CHECK(*other >= 0 && !close(listening));
	return own;
}

static void read_files(int file)
{
	volatile char *mapped = mmap(NULL, 16 << 20, PROT_READ, MAP_SHARED, file, 0);

	CHECK(mapped != MAP_FAILED && !madvise((void *)mapped, 16 << 20, MADV_RANDOM));
	CHECK(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	/* 10 reads that miss their page, and 10 that find it. */
	for (int turn = 0; turn < 2; turn++)
		for (int place = 0; place < 10; place++)
			CHECK(pread(file, buffer, PAGE, place * 8 * PAGE) == PAGE);
	/* 256 pages, all missed. */
	CHECK(pread(file, buffer, 1 << 20, 4 << 20) == 1 << 20);
	/* 5 pages by page faults. */
	for (int place = 0; place < 5; place++)
		(void)mapped[(8 << 20) + place * 16 * PAGE];
	/* 7 calls that fail. */
	for (int turn = 0; turn < 7; turn++)
		CHECK(pread(-1, buffer, 1, 0) < 0);
}

static void send_messages(int to[2], int from[2], int local[2])
{
	struct iovec parts[2] = { { buffer, 300 }, { buffer + 300, 5 } };
	char unlike = 'a';

	/* Three contents, each to both; then one to both in two parts; then two that differ. */
	for (int content = 0; content < 3; content++) {
		memset(buffer, content, 1000);
		for (int end = 0; end < 2; end++)
			CHECK(send(to[end], buffer, 1000, 0) == 1000);
	}
	for (int end = 0; end < 2; end++)
		CHECK(writev(to[end], parts, 2) == 305);
	for (int end = 0; end < 2; end++, unlike++)
		CHECK(write(to[end], &unlike, 1) == 1);
	for (int end = 0; end < 2; end++)
		CHECK(recv(from[end], buffer, 3306, MSG_WAITALL) == 3306);
	for (int turn = 0; turn < 4; turn++)
		CHECK(write(local[0], buffer, 100) == 100 && read(local[1], buffer, 100) == 100);
}

int main(int count, char **arguments)
{
	int file, to[2], from[2], local[2];

	CHECK(count == 2 && (file = open(arguments[1], O_RDONLY)) >= 0);
	for (int end = 0; end < 2; end++)
		to[end] = connected(&from[end]);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, local));
	CHECK(write(1, "r", 1) == 1);
	wait_for_a_byte();
	read_files(file);
	send_messages(to, from, local);
	usleep(50000);
	for (volatile long turn = 0; turn < 50000000; turn++)
		;
	/* A child that lives for 20 ms and asks 9 times for its parent. */
	if (!fork()) {
		usleep(20000);
		for (int turn = 0; turn < 9; turn++)
			getppid();
		_exit(0);
	}
	wait(NULL);
	CHECK(write(1, "x", 1) == 1);
	wait_for_a_byte();
	return 0;
}
