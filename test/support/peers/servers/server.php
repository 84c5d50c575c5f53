<?php
// Answers each request with what PHP has received, in its own server or as a CGI program.
[$path, $query] = explode('?', $_SERVER['REQUEST_URI']) + ['', ''];
if ($path === '/events') {
  header('Content-Type: text/event-stream');
  while (ob_get_level() > 0) ob_end_flush();
  for ($number = 0; $number < 3; $number++) {
    // An event is sent for each file that appears.
    for (clearstatcache(); !file_exists("$query.$number"); clearstatcache()) usleep(10000);
    echo "data: $number\n\n";
    flush();
  }
  exit;
}
if ($path === '/big') exit(str_repeat('x', (int) $query));
$body = file_get_contents('php://input');
$shown = strlen($body) <= 4096 ? '=' . bin2hex($body) : strlen($body) . '-' . md5($body);
$caller = $_SERVER['HTTP_X_SVC_CALLER'] ?? '';
header("X-Report: {$_SERVER['REQUEST_METHOD']} {$_SERVER['REQUEST_URI']} $caller $shown");
header('Content-Type: text/plain');
header('Content-Length: 3');
if ($_SERVER['REQUEST_METHOD'] !== 'HEAD') echo "ok\n";
